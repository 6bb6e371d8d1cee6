import type { z } from 'zod';
import { canonicalJson } from '../kernel/canonical-json.ts';
import {
  CONCEALED,
  ERASED,
  type DomainEvent,
  type Envelope,
  type EventDefinition,
  type EventFamily,
  type EventMetadata,
  type Position,
  type RecordedEvent,
} from '../kernel/event.ts';
import { isUuid, type TenantId } from '../kernel/ids.ts';
import { decrypt, encrypt } from '../vault/keyring.ts';
import { personKey, type Person, type PersonKeys } from '../vault/vault.ts';
import { PersonalFields } from './personal-fields.ts';
import { MAX_APPEND_BYTES, type NewEvent, type StoredEvent } from './port.ts';

/** An event that is not what its contract says: a programming error on the way in, damage on the way out. */
export class EventContractError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EventContractError';
  }
}

/** What a caller sent, or what has come together, makes more of an event than a store takes. */
export class EventTooLarge extends EventContractError {
  constructor(type: string) {
    super(`${type} is larger than an event may be`);
    this.name = 'EventTooLarge';
  }
}

/**
 * Text that no column takes: NUL, or half of a surrogate pair. Doors refuse it and name the field; this is for what comes by another
 * way (the claims of an identity provider), since the event would be written and no read model could show it.
 */
export class InvalidEventText extends EventContractError {
  constructor(type: string) {
    super(`${type} contains characters that are not text`);
    this.name = 'InvalidEventText';
  }
}

interface Contract {
  readonly definition: EventDefinition;
  readonly personal: PersonalFields | undefined;
}

interface SealedData extends Record<string, unknown> {
  $sealed?: { person: string; value: string };
}

/**
 * The one boundary between events as the house means them and events as a store keeps them: validates, seals what is
 * personal, upcasts what is old, opens what may still be opened. Every writer and every reader passes here.
 */
export class EventCodec {
  readonly #contracts = new Map<string, Contract>();
  readonly #personKeys: PersonKeys;

  constructor(families: readonly EventFamily[], personKeys: PersonKeys) {
    this.#personKeys = personKeys;
    for (const { definitions } of families) {
      for (const [type, definition] of Object.entries(definitions)) {
        if (this.#contracts.has(type)) throw new EventContractError(`two events are called ${type}`);
        this.#contracts.set(type, {
          definition,
          personal: definition.personal && new PersonalFields(definition.personal),
        });
      }
    }
  }

  knows(type: string): boolean {
    return this.#contracts.has(type);
  }

  /** True for an event that stays in the log for good; what is kept out of the audit log (telemetry) expires. */
  isLasting(type: string): boolean {
    const contract = this.#contracts.get(type);
    return contract !== undefined && contract.definition.audit !== false;
  }

  async encode(id: string, tenantId: TenantId, event: DomainEvent, metadata: EventMetadata): Promise<NewEvent> {
    const { definition, personal } = this.#contract(event.type);
    const checked = definition.schema.safeParse(event.data);
    if (!checked.success) throw new EventContractError(`${event.type}: ${issueText(checked.error)}`);
    let data = checked.data as SealedData;
    if (personal) data = await this.#seal(event.type, id, tenantId, personal, data);
    const text = canonicalJson(data);
    if (holdsBrokenText(text)) throw new InvalidEventText(event.type);
    if (Buffer.byteLength(text) > MAX_APPEND_BYTES) throw new EventTooLarge(event.type);
    return { id, type: event.type, version: definition.version, data: text, metadata };
  }

  async #seal(
    type: string,
    id: string,
    tenantId: TenantId,
    fields: PersonalFields,
    data: SealedData,
  ): Promise<SealedData> {
    const { clear, values } = fields.take(data);
    if (values.length === 0) return data;
    const person = data[fields.subject];
    // About nobody: there is no key to seal with, and no erasure that could ask for it.
    if (person === null) return data;
    if (typeof person !== 'string')
      throw new EventContractError(`an event with personal fields needs ${fields.subject}`);
    const key = await this.#personKeys.forSealing(tenantId, person);
    // Somebody who was erased in this very moment: the event happened, the values are gone.
    if (!key) return clear;
    const text = JSON.stringify(values);
    if (holdsBrokenText(text)) throw new InvalidEventText(type);
    const value = encrypt(key, Buffer.from(text), boundTo(tenantId, id)).toString('base64');
    return { ...clear, $sealed: { person, value } };
  }

  /** Decodes a page of events, with one look-up for all the keys that it needs. Unknown types come back as undefined. */
  async decode(stored: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    const keys = await this.#keysFor(stored);
    return stored.map((event) => this.#decodeOne(event, keys));
  }

  /**
   * For those who must go on: an event that is not what its contract says throws when its `data` is looked at, so that it
   * harms nobody but its own stream. Throws itself only when keys could not be had.
   */
  async decodeForFollowers(stored: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    const keys = await this.#keysFor(stored);
    return stored.map((event) => {
      try {
        return this.#decodeOne(event, keys);
      } catch (error) {
        return damaged(event, error as Error);
      }
    });
  }

  async #keysFor(stored: readonly Pick<StoredEvent, 'tenantId' | 'data'>[]): Promise<ReadonlyMap<string, Buffer>> {
    const persons = new Map<string, Person>();
    for (const { tenantId, data } of stored) {
      const personId = (data as SealedData).$sealed?.person;
      if (personId) persons.set(personKey({ tenantId, personId }), { tenantId, personId });
    }
    return persons.size > 0 ? this.#personKeys.forOpening([...persons.values()]) : NO_KEYS;
  }

  /**
   * The data of stored events for showing, in the version in which it was written: personal values opened, or `ERASED`, and
   * concealed ones concealed.
   * Never throws for what somebody has tampered with: such values stay sealed.
   */
  async reveal(stored: readonly Pick<StoredEvent, 'tenantId' | 'id' | 'type' | 'data'>[]): Promise<unknown[]> {
    const keys = await this.#keysFor(stored.filter(({ data }) => isUuid((data as SealedData).$sealed?.person)));
    return stored.map((event) => {
      const contract = this.#contracts.get(event.type);
      try {
        return concealing(contract, contract?.personal ? this.#open(event, contract.personal, keys).data : event.data);
      } catch {
        return concealing(contract, event.data);
      }
    });
  }

  #decodeOne(stored: StoredEvent, keys: ReadonlyMap<string, Buffer>): RecordedEvent | undefined {
    const contract = this.#contracts.get(stored.type);
    if (!contract) return undefined;
    const { definition, personal } = contract;
    const { data, erased } = personal ? this.#open(stored, personal, keys) : { data: stored.data, erased: false };
    const current = stored.version === definition.version ? data : upcast(stored, definition, data);
    // Erased values cannot satisfy a schema of e-mails and the like; everything else must.
    return new Decoded(stored, erased ? current : validated(stored, definition, current)) as RecordedEvent;
  }

  #open(
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

  #contract(type: string): Contract {
    const contract = this.#contracts.get(type);
    if (!contract) throw new EventContractError(`no event is called ${type}`);
    return contract;
  }
}

/** An event as folds see it. What few of them look at is asked of the stored event when they do. */
class Decoded implements Envelope {
  readonly type: string;
  readonly data: unknown;
  readonly tenantId: TenantId;
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly recordedAt: number;
  readonly stored: StoredEvent;

  constructor(stored: StoredEvent, data: unknown) {
    this.type = stored.type;
    this.data = data;
    this.tenantId = stored.tenantId;
    this.id = stored.id;
    this.stream = stored.stream;
    this.revision = stored.revision;
    this.position = stored.position;
    this.recordedAt = stored.recordedAt;
    this.stored = stored;
  }

  get metadata(): EventMetadata {
    return this.stored.metadata;
  }
}

/** The envelope of an event whose content cannot be had. */
const damaged = (stored: StoredEvent, error: Error): RecordedEvent =>
  Object.defineProperty(new Decoded(stored, undefined) as RecordedEvent, 'data', {
    get() {
      throw error;
    },
  });

function concealing(contract: Contract | undefined, data: unknown): unknown {
  const concealed = contract?.definition.concealed?.filter((field) => field in (data as object)) ?? [];
  return concealed.length === 0
    ? data
    : { ...(data as object), ...Object.fromEntries(concealed.map((field) => [field, CONCEALED])) };
}
/** How JSON spells NUL and halves of surrogate pairs; a backslash that stands for itself has another before it. */
const BROKEN_TEXT = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;
const holdsBrokenText = (json: string): boolean => json.includes('\\u') && BROKEN_TEXT.test(json);

const NO_KEYS: ReadonlyMap<string, Buffer> = new Map();
const boundTo = (tenantId: TenantId, eventId: string) => `${tenantId}|${eventId}`;

function upcast(stored: StoredEvent, definition: EventDefinition, data: unknown): unknown {
  let current = data;
  for (let version = stored.version; version < definition.version; version += 1) {
    const step = definition.upcasters?.[version];
    if (!step) throw new EventContractError(`${stored.type} version ${version} has no way up`);
    current = step(current as never);
  }
  return current;
}

function validated(stored: StoredEvent, definition: EventDefinition, data: unknown): unknown {
  const checked = definition.schema.safeParse(data);
  if (!checked.success) {
    throw new EventContractError(`${stored.type} at ${stored.stream}@${stored.revision}: ${issueText(checked.error)}`);
  }
  return checked.data;
}

/** Paths and codes only: a message could quote the value. */
const issueText = (error: z.ZodError) =>
  error.issues.map((issue) => `${issue.path.join('.')} (${issue.code})`).join(', ');
