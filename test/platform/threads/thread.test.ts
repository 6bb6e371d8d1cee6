import { afterEach, expect, it } from 'vitest';
import { Thread } from '../../../src/platform/threads/thread.ts';

let thread: Thread<string, string>;
const begin = () => (thread = new Thread<string, string>(new URL('echo.ts', import.meta.url), { greeting: 'Hello' }));
afterEach(() => thread.close());

it('responds to each request, and reports why it cannot', async () => {
  begin();
  const answers = await Promise.allSettled(['Ada', '', 'Grace'].map((name) => thread.request(name)));
  expect(answers).toEqual([
    { status: 'fulfilled', value: 'Hello, Ada' },
    { status: 'rejected', reason: new RangeError('nobody to greet') },
    { status: 'fulfilled', value: 'Hello, Grace' },
  ]);
});

it('rejects pending requests when it ends, and accepts no more', async () => {
  begin();
  const waiting = expect(thread.request('never')).rejects.toThrow('worker thread exited with code 3');
  await expect(thread.request('exit')).rejects.toThrow('worker thread exited with code 3');
  await waiting;
  await expect(thread.request('Ada')).rejects.toThrow('worker thread exited with code 3');
});

it('ends at once when it is closed', async () => {
  begin();
  const waiting = expect(thread.request('never')).rejects.toThrow('worker thread exited');
  await thread.close();
  await waiting;
});
