/** The microphone: asking for it, and the choice between several. */

/** For tests and for music: no echo cancelling, no noise suppression, no gain control. */
const RAW = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
const VOICE = { echoCancellation: true, noiseSuppression: true, autoGainControl: true }

/** Can this page have a microphone at all? Browsers give one to HTTPS and to localhost only. */
export function microphoneAllowedHere() {
  return window.isSecureContext && navigator.mediaDevices !== undefined
}

/** A stream from the microphone. Throws what the browser throws: NotAllowedError, NotFoundError, … */
export function openMicrophone({ deviceId, raw }) {
  const device = deviceId ? { deviceId: { exact: deviceId } } : {}
  return navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, ...(raw ? RAW : VOICE), ...device },
  })
}

/** Listens no more. */
export function release(stream) {
  for (const track of stream.getTracks()) track.stop()
}

/** Lists the microphones in a select, keeping the choice. Names are known only once access was given. */
export async function listMicrophones(select) {
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  const named = devices.filter(
    ({ kind, deviceId, label }) => kind === 'audioinput' && label && deviceId !== 'default',
  )
  if (named.length === 0) return
  const chosen = select.value
  const options = named.map(({ label, deviceId }) => new Option(label, deviceId, false, deviceId === chosen))
  select.replaceChildren(new Option('System default', ''), ...options)
}
