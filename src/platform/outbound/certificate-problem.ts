/** What is wrong with the certificate of a peer. */
export type CertificateProblem = 'untrusted' | 'expired' | 'not_valid_yet' | 'other_name';

/** Codes of Node's TLS layer: those of OpenSSL's X509_verify_cert_error_string, and its own. */
const PROBLEMS: ReadonlyMap<string, CertificateProblem> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'untrusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['CERT_SIGNATURE_FAILURE', 'untrusted'],
  ['CERT_UNTRUSTED', 'untrusted'],
  ['CERT_REJECTED', 'untrusted'],
  ['CERT_CHAIN_TOO_LONG', 'untrusted'],
  ['INVALID_CA', 'untrusted'],
  ['INVALID_PURPOSE', 'untrusted'],
  ['PATH_LENGTH_EXCEEDED', 'untrusted'],
  ['CERT_HAS_EXPIRED', 'expired'],
  ['CERT_NOT_YET_VALID', 'not_valid_yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'other_name'],
  ['HOSTNAME_MISMATCH', 'other_name'],
]);

/** Libraries wrap the error of the connection several levels deep. */
const MAX_DEPTH = 5;

/** Undefined if the call failed for another reason. */
export function certificateProblem(error: unknown): CertificateProblem | undefined {
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current instanceof Error; depth += 1) {
    const problem = PROBLEMS.get(String((current as { code?: unknown }).code));
    if (problem) return problem;
    current = current.cause;
  }
  return undefined;
}
