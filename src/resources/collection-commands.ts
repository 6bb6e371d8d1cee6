import { isDeepStrictEqual } from 'node:util';
import { streamName, type Aggregate } from '../kernel/aggregate.ts';
import { acceptWith, defineCommand, type Claim, type CommandContext } from '../kernel/command.ts';
import type { DomainEvent } from '../kernel/event.ts';
import { isFailure, notFound } from '../kernel/failure.ts';
import type { Vault } from '../vault/vault.ts';
import { eventTypes, type AnyCollection, type RecordState } from './collection-events.ts';
import { changedValues, isMade, isSecret, keptName, plainValues, type AnyValues, type Fields } from './fields.ts';
import { capitalized } from './names.ts';
import { keepSecrets, secretPlace, secretsGivenUp } from './secrets.ts';

/** What the caller of a command learns: which record, how it stands, and which secrets nothing refers to any more. */
export interface Written<Record> {
  readonly id: string;
  readonly record: Record;
  readonly secretsGivenUp: readonly string[];
}

interface Ports {
  readonly vault: Vault;
}

const noSecrets = (fields: Fields): AnyValues =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => (isSecret(field) ? [[keptName(name, field), null]] : [])));

const madeValues = (fields: Fields): AnyValues =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => (isMade(field) ? [[name, field.make()]] : [])));

/** The three decisions about a record. What no declaration may say (`if`) is a command file of its own. */
export function collectionCommands(declared: AnyCollection, aggregate: Aggregate<RecordState<AnyValues>, DomainEvent>, freshens: readonly string[]) {
  const { noun, fields, rule } = declared;
  const types = eventTypes(noun);
  const place = (id: string) => (field: string) => secretPlace(noun, id, field);
  const written = (id: string, context: CommandContext, before: AnyValues, after: AnyValues): Written<AnyValues> => {
    const when = new Date(context.now).toISOString();
    const record = { id, ...after, createdAt: when, updatedAt: when, createdBy: context.actor.id };
    return { id, record, secretsGivenUp: secretsGivenUp(fields, before, after) };
  };
  const common = { aggregate, freshens };

  const create = defineCommand({
    ...common,
    name: `Create${capitalized(noun)}`,
    stream: (_draft: AnyValues, { tenantId, id }) => streamName(noun, tenantId, id),
    prepare: async (draft: AnyValues, { vault }: Ports, { tenantId, id }): Promise<AnyValues> => ({
      ...madeValues(fields),
      ...(await keepSecrets(fields, draft, place(id), vault, tenantId)),
    }),
    decide(state, draft, context, facts) {
      const { id } = context;
      const values = { ...noSecrets(fields), ...plainValues(fields, draft), ...facts };
      // The same command once more: its record is there.
      if (state.exists) return acceptWith(written(id, context, {}, state.values), []);
      const broken = rule?.(values as never);
      if (isFailure(broken)) return broken;
      return acceptWith(written(id, context, {}, values), [{ type: types.created, data: { id, ...values } }], { take: claimsOf(declared, values) });
    },
  });

  const update = defineCommand({
    ...common,
    name: `Update${capitalized(noun)}`,
    stream: ({ id }: { id: string; changes: AnyValues }, { tenantId }) => streamName(noun, tenantId, id),
    prepare: ({ id, changes }, { vault }: Ports, { tenantId }): Promise<AnyValues> => keepSecrets(fields, changes, place(id), vault, tenantId),
    decide(state, { id, changes }, context, facts) {
      if (!state.exists) return notFound();
      const changed = changedValues(state.values, { ...plainValues(fields, changes), ...facts });
      const values = { ...state.values, ...changed };
      const result = written(id, context, state.values, values);
      if (Object.keys(changed).length === 0) return acceptWith(result, []);
      const broken = rule?.(values as never);
      if (isFailure(broken)) return broken;
      const [held, wanted] = [claimsOf(declared, state.values), claimsOf(declared, values)];
      return acceptWith(result, [{ type: types.updated, data: { id, ...changed } }], { take: without(wanted, held), release: without(held, wanted) });
    },
  });

  const remove = defineCommand({
    ...common,
    name: `Delete${capitalized(noun)}`,
    stream: ({ id }: { id: string }, { tenantId }) => streamName(noun, tenantId, id),
    decide(state, { id }, context) {
      if (!state.exists) return notFound();
      return acceptWith(written(id, context, state.values, {}), [{ type: types.deleted, data: { id } }], { release: claimsOf(declared, state.values) });
    },
  });

  return { create, update, remove };
}

/** One claim for each way in which the record is the only one. */
const claimsOf = ({ noun, unique = [] }: AnyCollection, values: AnyValues): Claim[] =>
  unique.map((names) => ({ kind: `${noun}.${names.join('+')}`, value: JSON.stringify(names.map((name) => folded(values[name]))) }));

const folded = (value: unknown): unknown => (typeof value === 'string' ? value.normalize('NFC').toLowerCase() : value);

const without = (claims: readonly Claim[], others: readonly Claim[]): Claim[] => claims.filter((claim) => !others.some((other) => isDeepStrictEqual(other, claim)));
