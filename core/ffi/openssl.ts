/**
 * The OpenSSL inside the Node binary, bound once per thread.
 *
 * Promise: nothing is loaded before the first call of `openssl()`; every symbol is probed then, and what is
 * missing is named in one error. libssl is never loaded by name: next to the copy inside an official Node
 * the two would mix their symbols and the process would die.
 */

import { getFips } from 'node:crypto'
import { EdgeError } from '../errors.ts'
import { koffi, nativeBuffer } from './native.ts'
import { type OpenSslFunctions, SIGNATURES } from './openssl-signatures.ts'

/** What `bindOpenSsl` needs of a loaded library. */
export interface SymbolSource {
  func(name: string, result: string, parameters: string[]): unknown
}

/** Binds every function of the table. Throws EdgeError `openssl_unavailable` with the names that are missing. */
export function bindOpenSsl(source: SymbolSource): OpenSslFunctions {
  const bound: unknown[][] = []
  const missing: string[] = []
  for (const [name, [result, ...parameters]] of Object.entries(SIGNATURES)) {
    try {
      bound.push([name, source.func(name, result, parameters)])
    } catch {
      missing.push(name)
    }
  }
  if (missing.length > 0) {
    const message = `this Node (${process.version}, OpenSSL ${process.versions.openssl}) does not export ${missing.join(', ')}: use an official Node build, version 24 or later`
    throw new EdgeError('openssl_unavailable', message)
  }
  return Object.fromEntries(bound)
}

let functions: OpenSslFunctions | undefined

/** The bound functions. Throws EdgeError `openssl_unavailable`, naming what is missing. */
export function openssl(): OpenSslFunctions {
  // load(null) is the program itself and what it is linked with, so a Node with a shared OpenSSL works too.
  functions ??= bindOpenSsl(koffi().load(null))
  return functions
}

/** Whether OpenSSL can be used here: undefined if so, otherwise the error that says why not. */
export function opensslProblem(): EdgeError | undefined {
  try {
    openssl()
    return undefined
  } catch (error) {
    if (error instanceof EdgeError) return error
    throw error
  }
}

/** The version text of OpenSSL, "OpenSSL 3.5.4 30 Sep 2025" say. */
export function opensslVersion(): string {
  return openssl().OpenSSL_version(0)
}

const text = nativeBuffer(256)

/** Takes everything out of this thread's error queue: the reasons, oldest first, or an empty text. */
export function takeErrors(): string {
  const ssl = openssl()
  const reasons: string[] = []
  for (let code = ssl.ERR_get_error(); code !== 0; code = ssl.ERR_get_error()) {
    ssl.ERR_error_string_n(code, text, text.length)
    // error:0A000086:SSL routines::certificate verify failed
    const line = text.toString('latin1', 0, text.indexOf(0))
    reasons.push(line.slice(line.lastIndexOf(':') + 1) || line)
  }
  return reasons.join('; ')
}

/** Passes a positive result on. Throws EdgeError `openssl_unavailable` for anything else. */
export function must(result: number, what: string): number {
  if (result > 0) return result
  const reasons = takeErrors()
  const fips =
    getFips() === 1 ? '; OpenSSL is in FIPS mode, where this does not work: start Node without it' : ''
  throw new EdgeError(
    'openssl_unavailable',
    `OpenSSL refused ${what}: ${reasons || 'no reason given'}${fips}`,
  )
}
