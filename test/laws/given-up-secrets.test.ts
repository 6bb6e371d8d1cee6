import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { resources } from '../../src/contexts/resources.ts';
import { defaultOf, isSecret, valuesOf, type AnyValues, type Fields } from '../../src/platform/resources/fields.ts';
import { accept, type Command } from '../../src/platform/kernel/command.ts';
import type { DomainEvent, EventFamily } from '../../src/platform/kernel/event.ts';
import { historiesOf } from '../dsl/given.ts';
import { gadgets, gadgetSettings } from '../platform/resources/gadget.resource.ts';
import { samples } from '../platform/resources/samples.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type AnyWrite = Command<any, any, DomainEvent, any, any, any>;

/** The sample resources, and every declared one with a secret. */
const secretive = [gadgets, gadgetSettings, ...resources].filter(({ declared }) =>
  Object.values(declared.fields as Fields).some(isSecret),
);
const { given } = historiesOf<EventFamily>(secretive.map(({ events }) => events));
const [FORMER, NEXT] = ['aaaaaaaa-0000-4000-8000-00000000000a', 'aaaaaaaa-0000-4000-8000-00000000000b'];
const refsOf = (fields: Fields, reference: string | null): AnyValues =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (isSecret(field) ? [[`${name}Ref`, reference]] : [])),
  );

const plain = (draft: AnyValues, fields: Fields): AnyValues =>
  Object.fromEntries(Object.entries(draft).filter(([name]) => !isSecret(fields[name]!)));

/** `given(…).when(…)` holds every decision of every test to this; here it is shown for each resource, and to fail where it must. */
describe('a decision forgets the secrets that its events give up', () => {
  for (const resource of secretive) {
    const { declared } = resource;
    const { noun } = declared;
    const fields = declared.fields as Fields;
    const secrets = Object.keys(refsOf(fields, FORMER)).map(() => FORMER);
    const id = randomUUID();
    const named = resource.kind === 'collection' ? { id } : {};
    const update = resource.update as AnyWrite;
    const kind = noun[0]!.toUpperCase() + noun.slice(1);
    const updated: DomainEvent = { type: `${kind}Updated`, data: { ...named, ...refsOf(fields, FORMER) } };
    const history: DomainEvent[] =
      resource.kind === 'collection'
        ? [
            {
              type: `${kind}Created`,
              data: {
                id,
                ...valuesOf(fields, defaultOf),
                ...plain(samples[noun]!.draft(1), fields),
                ...refsOf(fields, FORMER),
              },
            },
          ]
        : [updated];

    it(`${noun}: replaced, removed, unchanged`, () => {
      const changes = { ...named, changes: {} };
      given(...history)
        .when(update, changes, refsOf(fields, NEXT))
        .thenForgets(...secrets);
      given(...history)
        .when(update, changes, refsOf(fields, null))
        .thenForgets(...secrets);
      given(...history)
        .when(update, changes, {})
        .thenForgets();
    });

    if (resource.kind === 'collection')
      it(`${noun}: deleted`, () => {
        given(...history)
          .when(resource.remove as AnyWrite, named, undefined)
          .thenForgets(...secrets);
      });

    it(`${noun}: detects a decider that keeps the former secret, or destroys one in use`, () => {
      const careless: AnyWrite = {
        ...update,
        decide: () => accept([{ ...updated, data: { ...named, ...refsOf(fields, NEXT) } }]),
      };
      const hasty: AnyWrite = { ...update, decide: () => accept([{ ...updated, data: named }], { forget: [FORMER] }) };
      expect(() => given(...history).when(careless, { ...named, changes: {} }, {})).toThrow('forgets the secrets');
      expect(() => given(...history).when(hasty, { ...named, changes: {} }, {})).toThrow('forgets the secrets');
    });
  }

  it('covers at least one resource', () => expect(secretive.length).toBeGreaterThan(1));
});
