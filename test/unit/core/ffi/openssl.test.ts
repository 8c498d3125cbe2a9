import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EdgeError } from '../../../../core/errors.ts'
import { bindOpenSsl, opensslProblem, opensslVersion } from '../../../../core/ffi/openssl.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Runs a module in a process of its own and returns what it printed. */
function run(source: string): string {
  const script = `data:text/javascript,${encodeURIComponent(source.replaceAll('ROOT', `file://${root}`))}`
  const code = `await import(${JSON.stringify(script)})`
  return execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', cwd: root })
}

test('the OpenSSL of this Node is usable and of version 3', () => {
  assert.equal(opensslProblem(), undefined)
  assert.match(opensslVersion(), /^OpenSSL 3\./)
})

test('symbols that are missing are all named in one error', () => {
  const source = {
    func(name: string) {
      if (name === 'SSL_dane_enable' || name === 'HMAC_Final') throw new Error('Cannot find function')
      return () => 0
    },
  }
  assert.throws(
    () => bindOpenSsl(source),
    (error) => {
      assert.ok(error instanceof EdgeError)
      assert.equal(error.code, 'openssl_unavailable')
      assert.match(error.message, /SSL_dane_enable, HMAC_Final/)
      assert.match(error.message, /official Node/)
      return true
    },
  )
})

test('importing the core loads neither koffi nor anything of OpenSSL', () => {
  const out = run(`
    await import('ROOTcore/index.ts')
    const { createRequire } = await import('node:module')
    console.log(Object.keys(createRequire('ROOTcore/index.ts').cache).filter((path) => path.includes('koffi')).length)
  `)
  assert.equal(out.trim(), '0')
})

test('in FIPS mode a context says what is wrong', (t) => {
  const out = run(`
    const { DtlsContext } = await import('ROOTcore/index.ts')
    const { setFips } = await import('node:crypto')
    try {
      setFips(1)
    } catch {
      console.log('no FIPS mode')
      process.exit(0)
    }
    try {
      new DtlsContext({})
      console.log('it works')
    } catch (error) {
      console.log(error.code, error.message)
    }
  `)
  if (out.includes('no FIPS mode')) return t.skip('this OpenSSL has no FIPS mode')
  assert.match(out, /openssl_unavailable OpenSSL refused a DTLS context: .*FIPS mode/)
})
