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

const NO_KEYS: ReadonlyMap<string, Buffer> = new Map();
const boundTo = (tenantId: TenantId, eventId: string) => `${tenantId}|${eventId}`;

/** Personal fields of events: readable only with the key of the person, which an erasure destroys. */
export class PersonSealing {
  readonly #personKeys: PersonKeys;

  constructor(personKeys: PersonKeys) {
    this.#personKeys = personKeys;
  }

  /**
   * Seals the personal fields of an event with its person's key. They are left out if the person is erased at this
   * moment, and stay readable if the event is about no person.
   */
  async seal(
    type: string,
    id: string,
    tenantId: TenantId,
    fields: PersonalFields,
    data: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    const { clear, values } = fields.take(data);
    if (values.length === 0) return data;
    const person = data[fields.subject];
    // The event is about no person: there is no key to seal with, and no erasure can concern it.
    if (person === null) return data;
    if (typeof person !== 'string')
      throw new EventContractError(`an event with personal fields needs ${fields.subject}`);
    const key = await this.#personKeys.forSealing(tenantId, person);
    // The person was erased at this moment: the event is recorded without the values.
    if (!key) return clear;
    const text = JSON.stringify(values);
    if (holdsBrokenText(text)) throw new InvalidEventText(type);
    const value = encrypt(key, Buffer.from(text), boundTo(tenantId, id)).toString('base64');
    return { ...clear, $sealed: { person, value } };
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
