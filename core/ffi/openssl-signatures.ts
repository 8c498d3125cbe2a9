/**
 * The OpenSSL functions that Earshot calls: for each its result and arguments, in koffi's names, from which
 * the TypeScript types follow. Only functions of OpenSSL's public API are here. Pointers are plain numbers.
 */

const POINTER = 'uintptr_t'
const BYTES = 'void *'
const INT = 'int'
const BYTE = 'uint8_t'
const LONG = 'long'
const SIZE = 'size_t'
const TEXT = 'str'
const ULONG = 'unsigned long'
const VOID = 'void'

/** What a C type is in TypeScript. */
interface Native {
  void: undefined
  int: number
  long: number
  'unsigned long': number
  size_t: number
  uint8_t: number
  uint16_t: number
  uint64_t: number
  uintptr_t: number
  str: string
  'void *': Uint8Array | null
}

type Signature = readonly [result: keyof Native, ...parameters: (keyof Native)[]]

/** Name to result and parameters. */
export const SIGNATURES = {
  OpenSSL_version: [TEXT, INT],
  ERR_clear_error: [VOID],
  ERR_get_error: [ULONG],
  ERR_error_string_n: [VOID, ULONG, BYTES, SIZE],

  DTLS_method: [POINTER],
  SSL_CTX_new: [POINTER, POINTER],
  SSL_CTX_free: [VOID, POINTER],
  SSL_CTX_ctrl: [LONG, POINTER, INT, LONG, BYTES],
  SSL_CTX_set_options: ['uint64_t', POINTER, 'uint64_t'],
  SSL_CTX_set_cipher_list: [INT, POINTER, TEXT],
  SSL_CTX_set_tlsext_use_srtp: [INT, POINTER, TEXT],
  SSL_CTX_use_certificate_ASN1: [INT, POINTER, INT, BYTES],
  SSL_CTX_use_PrivateKey: [INT, POINTER, POINTER],
  SSL_CTX_check_private_key: [INT, POINTER],
  SSL_CTX_set_verify: [VOID, POINTER, INT, POINTER],
  SSL_CTX_dane_enable: [INT, POINTER],
  d2i_AutoPrivateKey: [POINTER, POINTER, BYTES, LONG],
  EVP_PKEY_free: [VOID, POINTER],

  SSL_new: [POINTER, POINTER],
  SSL_free: [VOID, POINTER],
  SSL_set_bio: [VOID, POINTER, POINTER, POINTER],
  SSL_set_accept_state: [VOID, POINTER],
  SSL_set_connect_state: [VOID, POINTER],
  SSL_dane_enable: [INT, POINTER, POINTER],
  SSL_dane_tlsa_add: [INT, POINTER, BYTE, BYTE, BYTE, BYTES, SIZE],
  SSL_do_handshake: [INT, POINTER],
  SSL_read: [INT, POINTER, POINTER, INT],
  SSL_write: [INT, POINTER, POINTER, INT],
  SSL_shutdown: [INT, POINTER],
  SSL_get_error: [INT, POINTER, INT],
  SSL_ctrl: [LONG, POINTER, INT, LONG, BYTES],
  SSL_get_verify_result: [LONG, POINTER],
  SSL_get1_peer_certificate: [POINTER, POINTER],
  X509_free: [VOID, POINTER],
  SSL_get_selected_srtp_profile: [POINTER, POINTER],
  SSL_export_keying_material: [INT, POINTER, BYTES, SIZE, TEXT, SIZE, POINTER, SIZE, INT],
  SSL_version: [INT, POINTER],
  SSL_get_current_cipher: [POINTER, POINTER],
  SSL_CIPHER_get_protocol_id: ['uint16_t', POINTER],
  SSL_get_session: [POINTER, POINTER],
  SSL_SESSION_get_master_key: [SIZE, POINTER, BYTES, SIZE],
  SSL_get_client_random: [SIZE, POINTER, BYTES, SIZE],
  SSL_get_server_random: [SIZE, POINTER, BYTES, SIZE],
  DTLS_set_timer_cb: [VOID, POINTER, POINTER],
  BIO_s_mem: [POINTER],
  BIO_new: [POINTER, POINTER],
  BIO_free: [INT, POINTER],
  BIO_read: [INT, POINTER, POINTER, INT],
  BIO_write: [INT, POINTER, POINTER, INT],
  BIO_ctrl: [LONG, POINTER, INT, LONG, POINTER],

  EVP_aes_128_gcm: [POINTER],
  EVP_aes_128_ctr: [POINTER],
  EVP_sha1: [POINTER],
  EVP_sha256: [POINTER],
  EVP_CIPHER_CTX_new: [POINTER],
  EVP_CIPHER_CTX_free: [VOID, POINTER],
  EVP_CIPHER_CTX_ctrl: [INT, POINTER, INT, INT, POINTER],
  EVP_CipherInit_ex: [INT, POINTER, POINTER, POINTER, POINTER, POINTER, INT],
  EVP_CipherUpdate: [INT, POINTER, POINTER, POINTER, POINTER, INT],
  EVP_CipherFinal_ex: [INT, POINTER, POINTER, POINTER],
  HMAC_CTX_new: [POINTER],
  HMAC_CTX_free: [VOID, POINTER],
  HMAC_Init_ex: [INT, POINTER, POINTER, INT, POINTER, POINTER],
  HMAC_Update: [INT, POINTER, POINTER, SIZE],
  HMAC_Final: [INT, POINTER, POINTER, POINTER],
  CRYPTO_memcmp: [INT, POINTER, POINTER, SIZE],
} as const satisfies Record<string, Signature>

type Table = typeof SIGNATURES
type ParameterTypes<S extends readonly (keyof Native)[]> = { [K in keyof S]: Native[S[K]] }
type Callable<S> = S extends readonly [
  infer R extends keyof Native,
  ...infer A extends readonly (keyof Native)[],
]
  ? (...parameters: ParameterTypes<A>) => Native[R]
  : never

/** The functions, typed. */
export type OpenSslFunctions = { readonly [Name in keyof Table]: Callable<Table[Name]> }
