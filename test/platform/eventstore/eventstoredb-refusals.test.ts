import { describe, expect, it } from 'vitest';
import { EventStoreDbEventStore } from '../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { AppendRefused } from '../../../src/platform/eventstore/port.ts';
import { MAX_APPEND_BYTES, type Append } from '../../../src/platform/eventstore/port.ts';
import { mustAppend, newAppend, newEvent, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

describe('EventStoreDB adapter: refusals', () => {
  const { startNode, openStore } = withNode();

  describe('the URL', () => {
    it('may have the scheme of either name of the product', async () => {
      const node = await startNode();
      const store = openStore(node.connectionString.replace('esdb://', 'kurrentdb://'));
      await mustAppend(store, newAppend(newTenant()));
    });

    it('is not quoted in an error, because it may hold a password', () => {
      const open = () => new EventStoreDbEventStore('esdb://admin:hunter2@host:port?tls=maybe');
      expect(open).toThrow('EVENTSTORE_URL has no valid port for the host host: write host:2113');
      expect(open).not.toThrow(/hunter2/);
      expect(() => new EventStoreDbEventStore('postgres://admin:hunter2@host')).toThrow(/^EVENTSTORE_URL must begin/);
    });
  });

  describe('an invalid append', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const refused: [string, Partial<Append>][] = [
      ['data that is no JSON', { events: [newEvent({ data: '{"secret": 42' })] }],
      [
        'metadata with a cycle',
        { events: [newEvent({ metadata: { ...newEvent().metadata, actor: cyclic as never } })] },
      ],
      [
        'metadata with a bigint',
        { events: [newEvent({ metadata: { ...newEvent().metadata, commandId: 1n as never } })] },
      ],
      [
        'more bytes than one append may have',
        { events: newEvents(2).map((event) => ({ ...event, data: `"${'x'.repeat(MAX_APPEND_BYTES / 2)}"` })) },
      ],
      ['an id that is no UUID', { events: [newEvent({ id: 'one' })] }],
      ['a type of the server’s own', { events: [newEvent({ type: '$metadata' })] }],
      ['a stream of the server’s own', { stream: '$settings' }],
      ['a stream of the claims’', { stream: 'claim-mine' }],
      ['no events', { events: [] }],
      ['an expected revision that stands for "any"', { expectedRevision: -2n }],
    ];
    it.each(refused)('is refused before any call: %s', async (_, over) => {
      const node = await startNode();
      const store = openStore(node);
      const error = await store.append(newAppend(newTenant(), over)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AppendRefused);
      expect(String((error as Error).cause ?? error)).not.toContain('secret');
      expect(node.calls).toEqual([]);
    });
  });
});
