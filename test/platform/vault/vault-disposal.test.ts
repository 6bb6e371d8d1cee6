import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AggregateLoader } from '../../../src/platform/execution/aggregate-loader.ts';
import { Executor } from '../../../src/platform/execution/executor.ts';
import type { SecretDisposal } from '../../../src/platform/execution/secret-disposal.ts';
import { defineAggregate, streamName } from '../../../src/platform/kernel/aggregate.ts';
import { accept, defineCommand } from '../../../src/platform/kernel/command.ts';
import { defineEvents, type EventOf } from '../../../src/platform/kernel/event.ts';
import { conflict, isFailure, orThrow } from '../../../src/platform/kernel/failure.ts';
import { EventStoreUnavailable, type EventStore } from '../../../src/platform/eventstore/port.ts';
import { destroySecrets, vaultDisposal } from '../../../src/platform/vault/vault-disposal.ts';
import { log, openProjectorApplication, type ProjectorApplication } from '../projector/projector-application.ts';
import { TENANTS } from '../projector/ledger.ts';

const lockEvents = defineEvents('lock', {
  LockChanged: { version: 1, schema: z.object({ keyRef: z.string() }), audit: false },
});
const lock = defineAggregate(
  lockEvents,
  { keyRef: undefined as string | undefined },
  (_state, event: EventOf<typeof lockEvents>) => event.data,
);
const changeLock = defineCommand({
  name: 'change-lock',
  aggregate: lock,
  stream: (input: { lock: string; keyRef: string }, { tenantId }) => streamName('lock', tenantId, input.lock),
  decide: ({ keyRef: former }, { keyRef }) =>
    keyRef === 'refused'
      ? conflict('command_refused', 'not this key')
      : accept([{ type: 'LockChanged' as const, data: { keyRef } }], { forget: [former] }),
});

interface Planned {
  readonly data: unknown;
  readonly id: string | undefined;
}

describe('secrets that a decision replaces or removes', () => {
  let application: ProjectorApplication;
  let kept: Set<string>;
  let planned: Planned[];
  let isVaultAway: boolean;
  beforeAll(async () => {
    application = await openProjectorApplication([lockEvents]);
  });
  afterAll(() => application.close());
  beforeEach(() => {
    kept = new Set();
    planned = [];
    isVaultAway = false;
  });

  const vault = {
    forget: async (_tenantId: unknown, reference: string) => {
      if (isVaultAway) throw new Error('the vault is away');
      kept.delete(reference);
    },
  };
  const jobs = {
    enqueue: async (_job: unknown, data: unknown, options?: { id?: string }) => {
      planned.push({ data: JSON.parse(JSON.stringify(data)), id: options?.id });
    },
  };
  const issuer = { tenantId: TENANTS[0]!, actor: { kind: 'system' as const, id: 'test' } };
  const newKey = () => {
    const keyRef = randomUUID();
    kept.add(keyRef);
    return keyRef;
  };
  const executorOn = (store: EventStore, over: Partial<SecretDisposal> = {}) =>
    new Executor<object>(
      store,
      application.codec,
      new AggregateLoader(store, application.codec),
      (text) => text,
      () => ({ ports: {}, compensate: async () => {} }),
      { ...vaultDisposal(vault, () => jobs, log), ...over },
    );
  /** Runs the planned jobs, as happens later in production. */
  const runPlanned = async () => {
    const job = destroySecrets(application.store, vault);
    for (const { data } of planned)
      await job.handle(job.data.parse(data), {
        id: 'job',
        attempt: 1,
        isLastAttempt: false,
        tenantId: TENANTS[0],
        correlationId: 'job',
        signal: new AbortController().signal,
      });
  };
  /** A lock with a first key, which the next change replaces. */
  const newLock = async () => {
    const [name, first] = [randomUUID(), newKey()];
    orThrow(await executorOn(application.store).execute(changeLock, { lock: name, keyRef: first }, issuer));
    return { name, first };
  };

  it('are destroyed once the events are appended, and no others', async () => {
    const { name, first } = await newLock();
    expect([kept.has(first), planned]).toEqual([true, []]);
    const next = newKey();
    orThrow(await executorOn(application.store).execute(changeLock, { lock: name, keyRef: next }, issuer));
    expect([...kept]).toEqual([next]);
    await runPlanned();
    expect([...kept]).toEqual([next]);
  });

  it('are kept when the command is refused', async () => {
    const { name, first } = await newLock();
    const answer = await executorOn(application.store).execute(changeLock, { lock: name, keyRef: 'refused' }, issuer);
    expect([isFailure(answer), [...kept]]).toEqual([true, [first]]);
  });

  it('are destroyed later if the process dies right after the append', async () => {
    const { name } = await newLock();
    const next = newKey();
    const dying = executorOn(application.store, { carryOut: () => Promise.reject(new Error('the process is gone')) });
    await expect(dying.execute(changeLock, { lock: name, keyRef: next }, issuer)).rejects.toThrow('gone');
    expect(kept.size).toBe(2);
    await runPlanned();
    expect([...kept]).toEqual([next]);
  });

  it('are destroyed later if the vault is unavailable after the append', async () => {
    const { name } = await newLock();
    const next = newKey();
    isVaultAway = true;
    orThrow(await executorOn(application.store).execute(changeLock, { lock: name, keyRef: next }, issuer));
    await expect(runPlanned()).rejects.toThrow('away');
    isVaultAway = false;
    await runPlanned();
    expect([...kept]).toEqual([next]);
  });

  it.each([true, false])(
    'are destroyed later only if an append with an unknown outcome succeeded: %s',
    async (happened) => {
      const { name, first } = await newLock();
      const next = newKey();
      const unsure = new Proxy(application.store, {
        get: (target, key) => {
          if (key !== 'append') {
            const value: unknown = Reflect.get(target, key);
            return typeof value === 'function' ? value.bind(target) : value;
          }
          return async (append: Parameters<EventStore['append']>[0]) => {
            if (happened) await target.append(append);
            throw new EventStoreUnavailable('no answer');
          };
        },
      });
      expect(isFailure(await executorOn(unsure).execute(changeLock, { lock: name, keyRef: next }, issuer))).toBe(true);
      expect(kept.size).toBe(2);
      await runPlanned();
      expect(kept.has(first)).toBe(!happened);
      expect(kept.has(next)).toBe(true);
    },
  );

  it('are those of the appended decision, not of one that lost a race', async () => {
    const { name, first } = await newLock();
    const slow = executorOn(application.store);
    const [between, last] = [newKey(), newKey()];
    // It decides on its cached state: the first key. Meanwhile another process has replaced it.
    orThrow(await slow.execute(changeLock, { lock: name, keyRef: first }, issuer));
    kept.add(first);
    orThrow(await executorOn(application.store).execute(changeLock, { lock: name, keyRef: between }, issuer));
    kept.add(first);
    planned = [];
    orThrow(await slow.execute(changeLock, { lock: name, keyRef: last }, issuer));
    expect([...kept].sort()).toEqual([first, last].sort());
    expect(new Set(planned.map(({ id }) => id)).size).toBe(2);
    await runPlanned();
    expect([...kept].sort()).toEqual([first, last].sort());
  });

  it('do not prevent a change if their destruction cannot be planned', async () => {
    const { name } = await newLock();
    const next = newKey();
    const disposal = vaultDisposal(vault, () => ({ enqueue: () => Promise.reject(new Error('no jobs')) }), log);
    orThrow(await executorOn(application.store, disposal).execute(changeLock, { lock: name, keyRef: next }, issuer));
    expect([...kept]).toEqual([next]);
  });
});
