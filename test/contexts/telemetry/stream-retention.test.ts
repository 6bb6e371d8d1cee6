import { describe, expect, it } from 'vitest';
import { StreamRetention } from '../../../src/contexts/telemetry/telemetry-retention.ts';

describe('the retention of a stream', () => {
  const held = () => {
    const calls: { stream: string; end: () => void }[] = [];
    const setRetention = (stream: string) => new Promise<void>((end) => calls.push({ stream, end }));
    return { calls, retention: new StreamRetention({ setRetention }) };
  };

  it('is set once', async () => {
    const { calls, retention } = held();
    const first = retention.ensure('a', 30);
    calls[0]!.end();
    await first;
    await retention.ensure('a', 30);
    expect(calls).toHaveLength(1);
  });

  it('is set again after a doubt about the log, also if it was just being set', async () => {
    const { calls, retention } = held();
    const first = retention.ensure('a', 30);
    retention.forget();
    calls[0]!.end();
    await first;
    const second = retention.ensure('a', 30);
    expect(calls).toHaveLength(2);
    calls[1]!.end();
    await second;
  });
});
