import { ERASED } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { decrypt, encrypt } from '../vault/keyring.ts';
import { personKey, type Person, type PersonKeys } from '../vault/vault.ts';
import { holdsBrokenText } from './broken-text.ts';
import { EventContractError, InvalidEventText } from './event-contract-error.ts';
import type { PersonalFields } from './personal-fields.ts';
import type { StoredEvent } from './port.ts';

interface SealedData extends Record<string, unknown> {
  $sealed?: { person: string; value: string };
}

/** The person with whose key personal fields are sealed; undefined if none are. */
export const sealedPerson = (data: unknown): string | undefined => (data as SealedData).$sealed?.person;

/** An event whose personal fields are to be sealed, if its type has any. */
export interface Unsealed {
  readonly type: string;
  readonly id: string;
  readonly tenantId: TenantId;
  readonly fields: PersonalFields | undefined;
  readonly data: Record<string, unknown>;
}

interface Taken {
  readonly tenantId: TenantId;
  readonly person: string;
  readonly clear: Record<string, unknown>;
  readonly values: readonly unknown[];
}

/** Undefined if there is nothing to seal. */
function takenFrom({ tenantId, fields, data }: Unsealed): Taken | undefined {
  if (!fields) return undefined;
  const { clear, values } = fields.take(data);
  if (values.length === 0) return undefined;
  const person = data[fields.subject];
  // The event is about no person: there is no key to seal with, and no erasure can concern it.
  if (person === null) return undefined;
  if (typeof person !== 'string') throw new EventContractError(`an event with personal fields needs ${fields.subject}`);
  return { tenantId, person, clear, values };
}

const NO_KEYS: ReadonlyMap<string, Buffer> = new Map();
const boundTo = (tenantId: TenantId, eventId: string) => `${tenantId}|${eventId}`;

/** Personal fields of events: readable only with the key of the person, which an erasure destroys. */
export class PersonSealing {
  readonly #personKeys: PersonKeys;

  constructor(personKeys: PersonKeys) {
    this.#personKeys = personKeys;
  }

  /**
   * Seals the personal fields of events with the keys of their persons, with one look-up. They are left out if the
   * person is erased at this moment, and stay readable if the event is about no person.
   */
  async seal(events: readonly Unsealed[]): Promise<Record<string, unknown>[]> {
    const taken = events.map((event) => takenFrom(event));
    const keys = await this.#keysToSealWith(taken);
    return events.map(({ type, id, tenantId, data }, at) => {
      const personal = taken[at];
      if (!personal) return data;
      const { person, clear, values } = personal;
      const key = keys.get(personKey({ tenantId, personId: person }));
      // The person was erased at this moment: the event is recorded without the values.
      if (!key) return clear;
      const text = JSON.stringify(values);
      if (holdsBrokenText(text)) throw new InvalidEventText(type);
      const value = encrypt(key, Buffer.from(text), boundTo(tenantId, id)).toString('base64');
      return { ...clear, $sealed: { person, value } };
    });
  }

  async #keysToSealWith(taken: readonly (Taken | undefined)[]): Promise<ReadonlyMap<string, Buffer>> {
    const persons = new Map<TenantId, Set<string>>();
    for (const personal of taken) {
      if (!personal) continue;
      const ofTenant = persons.get(personal.tenantId);
      if (ofTenant) ofTenant.add(personal.person);
      else persons.set(personal.tenantId, new Set([personal.person]));
    }
    const keys = new Map<string, Buffer>();
    for (const [tenantId, ids] of persons)
      for (const [personId, key] of await this.#personKeys.forSealingAll(tenantId, [...ids]))
        keys.set(personKey({ tenantId, personId }), key);
    return keys;
  }

  /** The keys that open these events, with one look-up. Keys of erased persons are missing. */
  async keysFor(stored: readonly Pick<StoredEvent, 'tenantId' | 'data'>[]): Promise<ReadonlyMap<string, Buffer>> {
    const persons = new Map<string, Person>();
    for (const { tenantId, data } of stored) {
      const personId = sealedPerson(data);
      if (personId) persons.set(personKey({ tenantId, personId }), { tenantId, personId });
    }
    return persons.size > 0 ? this.#personKeys.forOpening([...persons.values()]) : NO_KEYS;
  }
}

/** The data with personal values, or with `ERASED` in their place if the key is missing. Throws for tampered data. */
export function openPersonal(
  stored: Pick<StoredEvent, 'tenantId' | 'id' | 'data'>,
  fields: PersonalFields,
  keys: ReadonlyMap<string, Buffer>,
): { data: unknown; erased: boolean } {
  const { $sealed, ...clear } = stored.data as SealedData;
  const key = $sealed && keys.get(personKey({ tenantId: stored.tenantId, personId: $sealed.person }));
  if (!$sealed || !key) return { data: clear, erased: fields.put(clear, { marker: ERASED }) > 0 };
  const opened = decrypt(key, Buffer.from($sealed.value, 'base64'), boundTo(stored.tenantId, stored.id));
  fields.put(clear, JSON.parse(opened.toString()) as unknown[]);
  return { data: clear, erased: false };
}
