import { CONCEALED } from '../../../platform/kernel/guarded-fields.ts';
import { invalid, refuseTogether, type Failure } from '../../../platform/kernel/failure.ts';
import type { DestinationConfig } from './config.ts';

type Headers = Readonly<Record<string, string>>;

const headersOf = (config: DestinationConfig): Headers => (config.type === 'webhook' ? config.headers : {});

/** The stored value of this name. Undefined also if the vault has lost it, and only the name is left. */
function storedValue(stored: Headers, name: string): string | undefined {
  const value = Object.hasOwn(stored, name) ? stored[name] : undefined;
  return value === CONCEALED ? undefined : value;
}

/** The headers of a request. One that comes back as responses show it, `[concealed]`, keeps its stored value. */
export const withStoredValues = (stored: Headers, given: Headers): Headers =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === CONCEALED ? (storedValue(stored, name) ?? value) : value,
    ]),
  );

export const MISSING_VALUE = `is required: no value is stored that ${CONCEALED} stands for`;
export const concealedIn = (headers: Headers): readonly string[] =>
  Object.keys(headers).filter((name) => headers[name] === CONCEALED);

/** Refuses `[concealed]` where no value is stored that it could stand for. */
export function refuseMissingValue(config: DestinationConfig): Failure | undefined {
  return refuseTogether(
    ...concealedIn(headersOf(config)).map((name) => invalid(`config.headers.${name}`, MISSING_VALUE)),
  );
}

/**
 * Refuses to send stored values to an address for which they were not given. Values of headers are keys as often as not.
 * `given`: the headers of the request; undefined if it has none.
 */
export function refuseHeadersElsewhere(
  before: DestinationConfig,
  after: DestinationConfig,
  given: Headers | undefined,
): Failure | undefined {
  if (before.type !== 'webhook' || after.type !== 'webhook' || before.url === after.url) return undefined;
  const kept = given === undefined ? Object.keys(before.headers) : concealedIn(given);
  return kept.length === 0
    ? undefined
    : invalid(
        'config.headers',
        'is required with all values where config.url changes; {} removes the headers',
        'secret_required_again',
      );
}
