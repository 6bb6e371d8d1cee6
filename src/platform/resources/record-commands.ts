import { isDeepStrictEqual } from 'node:util';
import { streamName, type Aggregate, type AggregateReader } from '../kernel/aggregate.ts';
import { acceptWith, defineCommand, duplicateOf, type Claim, type CommandContext } from '../kernel/command.ts';
import type { DomainEvent } from '../kernel/event.ts';
import { isFailure, notFound, type Failure } from '../kernel/failure.ts';
import { derivedReadModelName, type ReadModelName } from '../kernel/read-model-name.ts';
import type { Vault } from '../vault/vault.ts';
import type { AnyDeclared } from './declaration.ts';
import { changedValues, defaultOf, isWritable, valuesOf, type AnyValues, type Fields } from './fields.ts';
import { brokenRuleOf } from './field-rule.ts';
import { capitalized } from './names.ts';
import type { RecordState } from './record-aggregate.ts';
import { namedIn, unknownReference, type References } from './references.ts';
import { storeSecrets, refuseMovedSecret, secretLocation, secretsOnlyIn } from './secrets.ts';
import { shownRecord, taggedOf } from './views.ts';
import { silencedBy } from './silenced.ts';
import { slotClaims, slotFor, slotKind, type SlotPorts } from './slots.ts';

/** The result of a command: the record as decided. */
export interface WrittenRecord<Values> {
  readonly id: string;
  readonly values: Values;
}

interface Ports extends SlotPorts {
  readonly vault: Vault;
  readonly aggregates: AggregateReader;
}
/** A singleton's id is its tenant's. */
interface Named {
  readonly id?: string;
}
interface Removal extends Named {
  readonly reauthenticated?: boolean | undefined;
}
interface Update extends Removal {
  readonly changes: AnyValues;
}

export type EventsOnCreate = (id: string, values: AnyValues) => readonly DomainEvent[];

/** The commands of a declared record. Logic beyond a declaration belongs in a command file of its own. */
export function recordCommands(declared: AnyDeclared, aggregate: Aggregate<RecordState<AnyValues>, DomainEvent>) {
  const { noun, fields, settled = (values) => values, table, toldToExtensions } = declared;
  const references = (declared.references ?? {}) as References;
  const own = derivedReadModelName(table);
  const freshens: readonly ReadModelName[] = toldToExtensions ? [own, 'policy_versions'] : [own];
  const shown = ({ exists, values }: RecordState<AnyValues>) =>
    exists ? taggedOf(declared, shownRecord(fields, values)) : undefined;
  const common = { aggregate, freshens };
  const idOf = ({ id }: Named, { tenantId }: CommandContext) => id ?? tenantId;
  const stream = (named: Named, context: CommandContext) => streamName(noun, context.tenantId, idOf(named, context));
  const place = (id: string) => (field: string) => secretLocation(noun, id, field);

  const create = (eventsOf: EventsOnCreate) =>
    defineCommand({
      ...common,
      name: `Create${capitalized(noun)}`,
      stream: (_draft: AnyValues, { tenantId, id }) => streamName(noun, tenantId, id),
      names: (draft: AnyValues) => namedIn(references, draft),
      async prepare(draft: AnyValues, ports: Ports, { tenantId, id }): Promise<AnyValues | Failure> {
        const unknown = await unknownReference(references, draft, { ...ports, tenantId });
        if (unknown) return unknown;
        const slot = await slotFor(declared, tenantId, ports);
        return isFailure(slot)
          ? slot
          : {
              ...valuesOf(fields, defaultOf),
              ...slot,
              ...(await storeSecrets(fields, draft, place(id), ports.vault, tenantId)),
            };
      },
      whenClaimed: (claim) => (claim.kind === slotKind(noun) ? 'prepareAgain' : duplicateOf(claim)),
      recall(_before, [event], _draft, { id }) {
        const { id: _, ...values } = event!.data as AnyValues;
        return { id, values };
      },
      decide(state, draft, { id }, facts) {
        // A retry of the same command: its record exists already.
        if (state.exists) return acceptWith({ id, values: state.values }, []);
        const values = settled({ ...facts, ...plainValues(fields, draft) }) as AnyValues;
        const broken = brokenRuleOf(declared, values);
        return isFailure(broken)
          ? broken
          : acceptWith({ id, values }, eventsOf(id, values), { claim: recordClaims(declared, values) });
      },
    });

  const update = (eventsOf: EventsOnCreate) =>
    defineCommand({
      ...common,
      shown,
      name: `Update${capitalized(noun)}`,
      stream: (input: Update, context) => stream(input, context),
      names: ({ changes }: Update) => namedIn(references, changes),
      async prepare(input: Update, { vault, aggregates }: Omit<Ports, 'freeNumbers'>, context) {
        const { tenantId } = context;
        if (Object.keys(references).length > 0) {
          const { values } = await aggregates.load(aggregate, stream(input, context));
          const unknown = await unknownReference(references, input.changes, { aggregates, tenantId }, values);
          if (unknown) return unknown;
        }
        return storeSecrets(fields, input.changes, place(idOf(input, context)), vault, tenantId);
      },
      decide(state, input, context, facts) {
        if (!state.exists) return notFound();
        const id = idOf(input, context);
        const given = changedValues(state.values, { ...facts, ...plainValues(fields, input.changes) });
        const values = settled({ ...state.values, ...given }) as AnyValues;
        const changed = changedValues(state.values, values);
        const nothing = Object.keys(changed).length === 0;
        const broken = nothing
          ? undefined
          : (refuseMovedSecret(fields, state.values, values) ?? brokenRuleOf(declared, values));
        if (isFailure(broken)) return broken;
        const { mark, refused } = silencedBy(declared, state.values, values, { ...context, ...proofOf(input) });
        if (refused) return refused;
        const [held, wanted] = [recordClaims(declared, state.values), recordClaims(declared, values)];
        return acceptWith({ id, values }, nothing ? [] : eventsOf(id, { ...changed, ...mark }), {
          claim: without(wanted, held),
          release: without(held, wanted),
          forget: secretsOnlyIn(fields, state.values, values),
        });
      },
    });

  const remove = (eventsOf: EventsOnCreate) =>
    defineCommand({
      ...common,
      shown,
      name: `Delete${capitalized(noun)}`,
      stream: (input: Removal, context) => stream(input, context),
      decide(state, input, context) {
        if (!state.exists) return notFound();
        const id = idOf(input, context);
        const { mark, refused } = silencedBy(declared, state.values, undefined, { ...context, ...proofOf(input) });
        if (refused) return refused;
        return acceptWith({ id, values: {} }, eventsOf(id, mark), {
          release: recordClaims(declared, state.values),
          forget: secretsOnlyIn(fields, state.values, {}),
        });
      },
    });

  return { create, update, remove };
}

const proofOf = ({ reauthenticated }: Removal) => ({ reauthenticated });

const plainValues = (fields: Fields, given: AnyValues): AnyValues =>
  valuesOf(fields, (field, name) => (isWritable(field) ? given[name] : undefined));

/** One claim for each unique combination of fields, and one for the slot. */
export const recordClaims = (declared: AnyDeclared, values: AnyValues): Claim[] => {
  const { noun, unique = [] } = declared;
  const own = unique.map((names) => ({
    kind: `${noun}.${names.join('+')}`,
    value: JSON.stringify(names.map((name) => folded(values[name]))),
    fields: names,
  }));
  return [...own, ...slotClaims(declared, values)];
};

const folded = (value: unknown): unknown => (typeof value === 'string' ? value.normalize('NFC').toLowerCase() : value);

const without = (claims: readonly Claim[], others: readonly Claim[]): Claim[] =>
  claims.filter((claim) => !others.some((other) => isDeepStrictEqual(other, claim)));
