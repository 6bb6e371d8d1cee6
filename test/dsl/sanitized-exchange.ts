/** The moment at which every example was recorded, as far as a reader can tell. */
const BASE = Date.parse('2026-01-15T09:30:00.000Z');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const MOST_ITEMS = 2;
const MOST_CHARACTERS = 600;
const PEOPLE = ['ann', 'bo', 'cy', 'dee', 'eli', 'fay', 'gus', 'hal'];

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const IS_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const DAY = /\b\d{4}-\d\d-\d\d\b(?!T)/g;
const EMAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----[^]*?-----END \1-----(?:\r?\n)?/g;
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;
const OWN_ADDRESS = /\b(?:https?:\/\/)?(?:127\.0\.0\.1|localhost|\[::1\]):\d+/g;
const HEX = /\b[0-9a-f]{32,}\b/gi;
const RANDOM = /[\w+/-]{24,}={0,2}/g;
const SHORT_HEX = /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8}\b/g;
const OTPAUTH = /otpauth:\/\/\S+/;
const TOTP = 'otpauth://totp/Castellan?secret=EXAMPLEEXAMPLE';
const DATA_URL = /data:image\/[\w+]+;base64,[\w+/=]+/g;

/** Names of members whose text is a secret, or looks like one to scanners. */
const SECRET =
  /(?:token|secret|password|passphrase|private_?key|backup_?codes?|qr_?code|otpauth|recovery_?key|license_?key|api_?key|access_?key|assertion|saml_?response|signature|^salt|^code|hash)$/i;
/** Types of alerts: their members hold a severity. */
const ALERT_TYPE = /_password$/;
export const isSecretName = (name: string): boolean => SECRET.test(name) && !ALERT_TYPE.test(name);

const cycled = (pattern: string, length: number): string =>
  pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length);

/** Of the same length and alphabet, so that it still has the form that a schema asks for. */
export function placeholder(name: string, text: string): string {
  if (/password|passphrase/i.test(name)) return 'Example-Password-1!';
  if (text.includes('-----BEGIN ')) return text.replaceAll(PEM, pemOf);
  if (text.startsWith('data:')) return text.replaceAll(DATA_URL, 'data:image/png;base64,iVBORw0KGgo=');
  if (OTPAUTH.test(text)) return text.replace(OTPAUTH, TOTP);
  if (IS_UUID.test(text)) return '00000000-0000-4000-8000-000000000000';
  if (/^\d+$/.test(text)) return cycled('123456', text.length);
  if (/^[0-9a-f]+$/i.test(text)) return cycled('0123456789abcdef', text.length);
  return cycled(/^[A-Z2-7]+$/.test(text) ? 'EXAMPLE' : 'EXAMPLEexample', Math.min(text.length, 120));
}

const pemOf = (_all: string, label: string): string => `-----BEGIN ${label}-----\nEXAMPLE\n-----END ${label}-----\n`;

const looksRandom = (text: string): boolean =>
  /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text) && !/^[a-z]+(?:[A-Z][a-z]+)*\d?$/.test(text);

/**
 * Replaces what differs between two runs or must not be published: ids, times, secrets, certificates, addresses. Equal
 * values stay equal within one exchange. Lists and texts are cut.
 */
export class Sanitizer {
  readonly #ids = new Map<string, string>();
  readonly #people = new Map<string, string>();
  readonly #now: number;
  #moments: readonly number[] = [];

  /** `now`: when the exchange was recorded, in epoch milliseconds. */
  constructor(now: number) {
    this.#now = now;
  }

  /** All values of the exchange, before any of them is sanitized: their times keep their order. */
  learn(...values: readonly unknown[]): void {
    const found = [...(JSON.stringify(values) ?? '').matchAll(MOMENT)].map(([text]) => Date.parse(text));
    this.#moments = [...new Set(found)].sort((one, other) => one - other);
  }

  value(value: unknown, name = ''): unknown {
    if (typeof value === 'string')
      return isSecretName(name) && value !== '' ? placeholder(name, value) : this.text(value);
    if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => this.value(item, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [IS_UUID.test(key) ? this.text(key) : key, this.value(child, key)]),
    );
  }

  text(text: string): string {
    return text
      .replaceAll(PEM, pemOf)
      .replaceAll(DATA_URL, 'data:image/png;base64,iVBORw0KGgo=')
      .replace(OTPAUTH, TOTP)
      .replaceAll(JWT, 'EXAMPLE.EXAMPLE.EXAMPLE')
      .replaceAll(OWN_ADDRESS, (address) =>
        address.startsWith('http') ? 'https://castellan.example' : 'castellan.example',
      )
      .replaceAll(EMAIL, (address) => this.#person(address))
      .replaceAll(UUID, (id) => this.#id(id))
      .replaceAll(MOMENT, (moment) => this.#moment(Date.parse(moment)))
      .replaceAll(DAY, (day) => this.#day(day))
      .replaceAll(HEX, (digits) => cycled('0123456789abcdef', digits.length))
      .replaceAll(RANDOM, (run) =>
        looksRandom(run) && !run.includes('00000000-') ? cycled('EXAMPLEexample', run.length) : run,
      )
      .replaceAll(SHORT_HEX, '1a2b3c4d')
      .slice(0, MOST_CHARACTERS);
  }

  #id(id: string): string {
    const known = this.#ids.get(id.toLowerCase());
    const given = known ?? `00000000-0000-4000-8000-${String(this.#ids.size + 1).padStart(12, '0')}`;
    this.#ids.set(id.toLowerCase(), given);
    return given;
  }

  #person(address: string): string {
    const known = this.#people.get(address.toLowerCase());
    const at = this.#people.size;
    const given = known ?? `${PEOPLE[at % PEOPLE.length]}${at < PEOPLE.length ? '' : at}@acme.example`;
    this.#people.set(address.toLowerCase(), given);
    return given;
  }

  /** Whole days before or after the recording stay; within a day only the order does. */
  #moment(moment: number): string {
    const days = Math.round((moment - this.#now) / DAY_MS);
    const rank = this.#moments.indexOf(moment);
    return new Date(BASE + days * DAY_MS + Math.max(0, rank) * MINUTE_MS).toISOString();
  }

  #day(day: string): string {
    const today = new Date(this.#now).toISOString().slice(0, 10);
    const days = Math.round((Date.parse(day) - Date.parse(today)) / DAY_MS);
    return Number.isNaN(days) ? day : new Date(BASE + days * DAY_MS).toISOString().slice(0, 10);
  }
}
