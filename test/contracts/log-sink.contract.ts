import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutgoingRecord, Sink } from '../../src/contexts/log-destinations/sinks/sink.ts';

/** A sink, and the peer that it sends to. */
export interface SinkUnderTest {
  readonly sink: Sink;
  /** Lines that the peer has stored, in order; each is `{"n": …}` with whatever the protocol adds. */
  stored(): readonly string[];
  /** From now on the peer fails as a whole. Undefined: the protocol cannot tell. */
  readonly fail: (() => void) | undefined;
  /** From now on the peer accepts connections and never responds. */
  readonly hang: (() => void) | undefined;
  recover(): void;
  close(): Promise<void>;
}

export const numbered = (n: number): OutgoingRecord => ({
  record: {
    timestamp: '2026-11-23T10:11:12.345Z',
    tenantId: '7b7f4c1e-0f5e-4c6e-9c3e-0d5f8a6b1c2d',
    type: 'audit',
    id: randomUUID(),
    severity: 'info',
    data: { action: 'test' },
  },
  line: JSON.stringify({ n, secret: 'never-in-an-error' }),
  position: BigInt(n + 1),
  recordedAt: Date.parse('2026-11-23T10:11:12.345Z'),
});

const batch = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => numbered(from + index));
const numbersIn = (lines: readonly string[]) =>
  [...lines.join('\n').matchAll(/\\?"n\\?":(\d+)/g)].map(([, n]) => Number(n));
const soon = () => AbortSignal.timeout(20_000);

/** What the forwarder relies on, for every kind of destination. */
export function logSinkContract(name: string, start: () => Promise<SinkUnderTest>): void {
  describe(`a log sink: ${name}`, () => {
    let under: SinkUnderTest;
    beforeEach(async () => {
      under = await start();
    });
    afterEach(async () => {
      under.sink.close();
      await under.close();
    });

    it('has handed over everything in order once it is confirmed', async () => {
      expect(await under.sink.send(batch(0, 3), soon())).toEqual([]);
      expect(await under.sink.send(batch(3, 250), soon())).toEqual([]);
      await under.sink.confirm(soon());
      const all = Array.from({ length: 250 }, (_, n) => n);
      // Datagrams are not confirmed: some may still wait in the peer's socket.
      if (!under.fail) await expect.poll(() => numbersIn(under.stored())).toHaveLength(all.length);
      expect(numbersIn(under.stored())).toEqual(all);
    });

    it('confirms nothing when nothing was sent, and goes on after a confirmation', async () => {
      await under.sink.confirm(soon());
      for (const n of [0, 1, 2]) {
        await under.sink.send([{ ...numbered(n), position: BigInt(n + 1) }], soon());
        await under.sink.confirm(soon());
      }
      expect(numbersIn(under.stored())).toEqual([0, 1, 2]);
    });

    it('fails in fixed words, and delivers after the peer has recovered', async ({ skip }) => {
      if (!under.fail) return skip();
      under.fail();
      const failure = await attempt(under.sink, soon());
      expect([failure?.name, failure?.message]).toEqual([
        'SinkFailed',
        expect.stringMatching(/^(?:the|nothing) [a-z ,]+$/),
      ]);
      under.sink.close();
      under.recover();
      expect(await attempt(under.sink, soon())).toBeUndefined();
      expect(numbersIn(under.stored())).toContain(0);
    });

    it('ends a wait for a peer that hangs when it is told to', async ({ skip }) => {
      if (!under.hang) return skip();
      under.hang();
      const began = performance.now();
      expect(await attempt(under.sink, AbortSignal.timeout(300))).toBeInstanceOf(Error);
      expect(performance.now() - began).toBeLessThan(5_000);
    });
  });
}

const attempt = async (sink: Sink, signal: AbortSignal): Promise<Error | undefined> => {
  try {
    await sink.send([numbered(0)], signal);
    await sink.confirm(signal);
    return undefined;
  } catch (error) {
    return error as Error;
  }
};
