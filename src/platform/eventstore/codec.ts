import type { z } from 'zod';
import { canonicalJson } from '../kernel/canonical-json.ts';
import {
  type DomainEvent,
  type Envelope,
  type EventDefinition,
  type EventFamily,
  type EventMetadata,
  type Position,
  type RecordedEvent,
} from '../kernel/event.ts';
import { CONCEALED, withoutGuarded } from '../kernel/guarded-fields.ts';
import { isUuid, type TenantId } from '../kernel/ids.ts';
import type { PersonKeys } from '../vault/vault.ts';
import { holdsBrokenText } from './broken-text.ts';
import { EventContractError, EventTooLarge, InvalidEventText } from './event-contract-error.ts';
import { openPersonal, PersonSealing, sealedPerson, type Unsealed } from './person-sealing.ts';
import { PersonalFields } from './personal-fields.ts';
import { MAX_APPEND_BYTES, type NewEvent, type StoredEvent } from './port.ts';

interface Contract {
  readonly definition: EventDefinition;
  readonly personal: PersonalFields | undefined;
}

export interface UnencodedEvent {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly event: DomainEvent;
  readonly metadata: EventMetadata;
}

/**
 * The boundary between domain events and stored events: validates, seals personal fields, upcasts old versions, and
 * decrypts what can still be decrypted. All writes and reads use it.
 */
export class EventCodec {
  readonly #contracts = new Map<string, Contract>();
  readonly #sealing: PersonSealing;

  constructor(families: readonly EventFamily[], personKeys: PersonKeys) {
    this.#sealing = new PersonSealing(personKeys);
    for (const { definitions } of families) {
      for (const [type, definition] of Object.entries(definitions)) {
        if (this.#contracts.has(type)) throw new EventContractError(`duplicate event type ${type}`);
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

  /** True for an event that stays in the log. Events without an audit name (telemetry) expire. */
  isLasting(type: string): boolean {
    const contract = this.#contracts.get(type);
    return contract !== undefined && contract.definition.audit !== false;
  }

  async encode(id: string, tenantId: TenantId, event: DomainEvent, metadata: EventMetadata): Promise<NewEvent> {
    return (await this.encodeAll([{ id, tenantId, event, metadata }]))[0]!;
  }

  /** Encodes events of many streams, with one look-up for the keys of all persons. */
  async encodeAll(unencoded: readonly UnencodedEvent[]): Promise<NewEvent[]> {
    const sealed = await this.#sealing.seal(unencoded.map((one) => this.#checked(one)));
    return unencoded.map(({ id, event: { type }, metadata }, at) => {
      const text = canonicalJson(sealed[at]);
      if (holdsBrokenText(text)) throw new InvalidEventText(type);
      if (Buffer.byteLength(text) > MAX_APPEND_BYTES) throw new EventTooLarge(type);
      return { id, type, version: this.#contract(type).definition.version, data: text, metadata };
    });
  }

  #checked({ id, tenantId, event: { type, data } }: UnencodedEvent): Unsealed {
    const { definition, personal } = this.#contract(type);
    const checked = definition.schema.safeParse(data);
    if (!checked.success) throw new EventContractError(`${type}: ${issueText(checked.error)}`);
    return { type, id, tenantId, fields: personal, data: checked.data as Record<string, unknown> };
  }

  /** Decodes a page of events, with one look-up for all keys. Unknown types are returned as undefined. */
  async decode(stored: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    const keys = await this.#sealing.keysFor(stored);
    return stored.map((event) => this.#decodeOne(event, keys));
  }

  /**
   * For consumers that must not stop: an event that violates its contract throws when its `data` is read, so that only
   * its own stream is affected. Throws itself only if the keys cannot be loaded.
   */
  async decodeForFollowers(stored: readonly StoredEvent[]): Promise<(RecordedEvent | undefined)[]> {
    const keys = await this.#sealing.keysFor(stored);
    return stored.map((event) => {
      try {
        return this.#decodeOne(event, keys);
      } catch (error) {
        return damaged(event, error as Error);
      }
    });
  }

  /**
   * Returns the data of stored events for display, in their stored version. Personal values are decrypted or `ERASED`;
   * concealed fields are `CONCEALED`. Never throws for tampered data: such values stay sealed.
   */
  async reveal(stored: readonly Pick<StoredEvent, 'tenantId' | 'id' | 'type' | 'data'>[]): Promise<unknown[]> {
    const keys = await this.#sealing.keysFor(stored.filter(({ data }) => isUuid(sealedPerson(data))));
    return stored.map((event) => {
      const contract = this.#contracts.get(event.type);
      try {
        return concealing(
          contract,
          contract?.personal ? openPersonal(event, contract.personal, keys).data : event.data,
        );
      } catch {
        return concealing(contract, event.data);
      }
    });
  }

  #decodeOne(stored: StoredEvent, keys: ReadonlyMap<string, Buffer>): RecordedEvent | undefined {
    const contract = this.#contracts.get(stored.type);
    if (!contract) return undefined;
    const { definition, personal } = contract;
    const { data, erased } = personal ? openPersonal(stored, personal, keys) : { data: stored.data, erased: false };
    const current = stored.version === definition.version ? data : upcast(stored, definition, data);
    // Erased values cannot match a schema (e-mails and the like). Everything else must.
    return new Decoded(stored, erased ? current : validated(stored, definition, current)) as RecordedEvent;
  }

  #contract(type: string): Contract {
    const contract = this.#contracts.get(type);
    if (!contract) throw new EventContractError(`unknown event type ${type}`);
    return contract;
  }
}

/** An event as folds see it. Rarely used members are read from the stored event on demand. */
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

/** The envelope of an event whose data cannot be decoded. */
const damaged = (stored: StoredEvent, error: Error): RecordedEvent =>
  Object.defineProperty(new Decoded(stored, undefined) as RecordedEvent, 'data', {
    get() {
      throw error;
    },
  });

function concealing(contract: Contract | undefined, whole: unknown): unknown {
  const data = withoutGuarded(contract?.definition.guarded, whole);
  const concealed = contract?.definition.concealed?.filter((field) => field in (data as object)) ?? [];
  return concealed.length === 0
    ? data
    : { ...(data as object), ...Object.fromEntries(concealed.map((field) => [field, CONCEALED])) };
}
function upcast(stored: StoredEvent, definition: EventDefinition, data: unknown): unknown {
  let current = data;
  for (let version = stored.version; version < definition.version; version += 1) {
    const step = definition.upcasters?.[version];
    if (!step) throw new EventContractError(`${stored.type} version ${version} has no upcaster`);
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

/** Only paths and codes: a message could contain the value. */
const issueText = (error: z.ZodError) =>
  error.issues.map((issue) => `${issue.path.join('.')} (${issue.code})`).join(', ');
