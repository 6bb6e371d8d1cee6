const MOST_CHARACTERS = 4_000;

/** Without control characters, which would reach an operator's terminal. Line ends and tabs stay. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const IN_ADDRESS = /(:\/\/)[^\s/@]+@/g;
const NAMED =
  /((?:password|passwd|secret|token|credential|api[_-]?key|master[_-]?key|authorization)\w*["']?\s*[:=]\s*).+/gi;
const REDACTED = '[redacted]';

/**
 * The end of a command's output, for the history. The command gets none of our secrets; what it prints of its own is
 * taken out where it looks like one.
 */
export function redactedOutput(text: string): string {
  const clean = text
    .replaceAll('\r\n', '\n')
    .replaceAll(CONTROLS, '')
    .replaceAll(PEM, REDACTED)
    .replaceAll(IN_ADDRESS, `$1${REDACTED}@`)
    .replaceAll(NAMED, `$1${REDACTED}`);
  return clean.slice(-MOST_CHARACTERS).toWellFormed().trim();
}
