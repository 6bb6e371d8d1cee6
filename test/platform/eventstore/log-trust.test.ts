import { describe, expect, it } from 'vitest';
import { LogNotTrusted, LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { trustedReads, whileTrusted } from '../../../src/platform/eventstore/trusted-store.ts';

const APPEND = {} as Parameters<EventStore['append']>[0];

describe('trust in the event log', () => {
  const storeThat = (trust: LogTrust) => {
    const appended: unknown[] = [];
    const raw = {
      append: (append: unknown) => Promise.resolve(appended.push(append)),
      readAll: () => Promise.resolve('read'),
    } as unknown as EventStore;
    return { store: whileTrusted(raw, trust), appended };
  };

  it('offers threads exactly what the store offers', () => {
    const logAddress = { kind: 'postgres', database: {} } as const;
    expect(whileTrusted({ logAddress } as EventStore, new LogTrust()).logAddress).toBe(logAddress);
    expect(whileTrusted({} as EventStore, new LogTrust())).not.toHaveProperty('logAddress');
  });

  it('makes an append wait for a running check', async () => {
    const trust = new LogTrust('unchecked');
    const { store, appended } = storeThat(trust);
    const append = store.append(APPEND);
    await Promise.resolve();
    expect(appended).toHaveLength(0);
    trust.confirmed(trust.epoch);
    await append;
    expect(appended).toHaveLength(1);
  });

  it('refuses appends to a log that contradicts its known state, and still lets it be read', async () => {
    const trust = new LogTrust();
    const { store, appended } = storeThat(trust);
    trust.contradicted('log_older', 'it ends at 3');
    await expect(store.append(APPEND)).rejects.toThrow(LogNotTrusted);
    await expect(store.readAll(0n, 1)).resolves.toBe('read');
    expect(appended).toHaveLength(0);
  });

  it('does not clear a contradiction because of a lost connection', async () => {
    const trust = new LogTrust();
    trust.contradicted('log_older', 'it ends at 3');
    trust.suspect('a connection was lost');
    expect(trust.doubt).toEqual({ kind: 'contradicted', mismatch: 'log_older', reason: 'it ends at 3' });
  });

  it('does not accept a check that began before the last suspicion', () => {
    const trust = new LogTrust();
    const { epoch } = trust;
    trust.suspect('a connection was lost');
    expect(trust.confirmed(epoch)).toBe(false);
    expect(trust.holds).toBe(false);
    expect(trust.confirmed(trust.epoch)).toBe(true);
    expect(trust.holds).toBe(true);
  });

  it('notifies caches of each suspicion, and of a contradiction once', () => {
    const trust = new LogTrust();
    let dropped = 0;
    trust.onDoubt(() => (dropped += 1));
    trust.suspect('one');
    trust.suspect('two');
    trust.contradicted('log_older', 'three');
    trust.contradicted('log_older', 'three');
    expect(dropped).toBe(3);
  });

  it('wakes the next check at once when there is a doubt', async () => {
    const trust = new LogTrust();
    const woken = trust.changed(600_000);
    trust.suspect('a connection was lost');
    await woken;
  });

  it('vouches for what was read while nothing contradicted it', async () => {
    const trust = new LogTrust();
    const { epoch } = trust;
    await trust.vouchFor(epoch);
    trust.suspect('a connection was lost');
    const vouched = trust.vouchFor(epoch);
    trust.confirmed(trust.epoch);
    await vouched;
    trust.contradicted('log_older', 'it ends at 3');
    await expect(trust.vouchFor(epoch)).rejects.toThrow(LogNotTrusted);
    trust.suspect('it was in doubt');
    trust.confirmed(trust.epoch);
    // It was read of another log, perhaps; what is read from now on is of the known one.
    await expect(trust.vouchFor(epoch)).rejects.toThrow(LogNotTrusted);
    await trust.vouchFor(trust.epoch);
  });

  it('does not vouch for what was read while it was contradicted', async () => {
    const trust = new LogTrust();
    trust.contradicted('log_older', 'it ends at 3');
    const epochs = [trust.epoch];
    trust.suspect('a connection was lost');
    epochs.push(trust.epoch);
    trust.suspect('it was in doubt');
    trust.confirmed(trust.epoch);
    for (const epoch of epochs) await expect(trust.vouchFor(epoch)).rejects.toThrow(LogNotTrusted);
    const { epoch } = trust;
    trust.suspect('a connection was lost');
    trust.confirmed(trust.epoch);
    await trust.vouchFor(epoch);
  });

  it('vouches for a refusal only if there was no doubt at all', async () => {
    const trust = new LogTrust();
    const { epoch } = trust;
    await trust.vouchForAll(epoch);
    trust.suspect('a connection was lost');
    trust.confirmed(trust.epoch);
    await expect(trust.vouchForAll(epoch)).rejects.toThrow(LogNotTrusted);
    await trust.vouchForAll(trust.epoch);
  });

  it('lets only a command read a log that does not match', async () => {
    const trust = new LogTrust();
    const page = { events: [], position: 3n };
    const store = { readAll: async () => page } as never;
    trust.contradicted('log_older', 'it ends at 3');
    await expect(trustedReads(store, trust).readAll(0n, 10)).rejects.toThrow(LogNotTrusted);
    expect(await trustedReads(store, trust, { isRestore: true }).readAll(0n, 10)).toBe(page);
  });

  it('doubts a log in which a stream ends before what was read of it', async () => {
    for (const [actual, holds] of [
      [4n, false],
      [6n, true],
    ] as const) {
      const trust = new LogTrust();
      const raw = { append: () => Promise.resolve({ kind: 'wrongRevision', actual }) } as unknown as EventStore;
      await whileTrusted(raw, trust).append({ ...APPEND, expectedRevision: 5n });
      expect(trust.holds).toBe(holds);
    }
  });
});
