// The other side of `thread.test.ts`.
import { serveThread } from '../../../src/platform/threads/thread-server.ts';

serveThread(({ greeting }: { greeting: string }) => async (name: string) => {
  if (name === '') throw new RangeError('nobody to greet');
  if (name === 'exit') process.exit(3);
  if (name === 'never') return new Promise<string>(() => undefined);
  return `${greeting}, ${name}`;
});
