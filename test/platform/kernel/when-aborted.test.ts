import { describe, expect, it } from 'vitest';
import { whenAborted } from '../../../src/platform/kernel/when-aborted.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('waiting for an abort', () => {
  it('hears of one that happens later, once', async () => {
    const control = new AbortController();
    const heard: unknown[] = [];
    whenAborted(control.signal, () => heard.push(control.signal.reason));
    expect(heard).toEqual([]);
    control.abort('stop');
    control.abort('again');
    await turn();
    expect(heard).toEqual(['stop']);
  });

  it('hears of one that has already happened', async () => {
    let heard = 0;
    whenAborted(AbortSignal.abort(), () => (heard += 1));
    expect(heard, 'what waits is not set up yet').toBe(0);
    await turn();
    expect(heard).toBe(1);
  });

  it('ends when it is told to, before and after', async () => {
    const control = new AbortController();
    let heard = 0;
    whenAborted(control.signal, () => (heard += 1))();
    control.abort();
    whenAborted(control.signal, () => (heard += 1))();
    await turn();
    expect(heard).toBe(0);
  });
});
