import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A peer in a separate process (importing Emmett changes how `pg` parses numbers everywhere). */
export interface Peer {
  /** Sends the peer's parameters; returns its measurement, per second. */
  ask(parameters: Record<string, unknown>): Promise<number>;
  stop(): Promise<void>;
}

/** `config` tells the peer where its server is. */
export async function startPeer(file: string, config: object): Promise<Peer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, PEER_CONFIG: JSON.stringify(config) },
  });
  const next = () =>
    new Promise<{ rate: number }>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`${file} ended with ${code}`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message as { rate: number });
      });
    });
  await next();
  return {
    ask: async (parameters) => {
      const answer = next();
      child.send(parameters);
      return (await answer).rate;
    },
    stop: async () => {
      child.removeAllListeners('exit');
      child.kill();
    },
  };
}

/** The other end, in the peer's process. */
export function servePeer(measure: (parameters: Record<string, number>) => Promise<number>): void {
  process.on('message', (parameters) => {
    void measure(parameters as Record<string, number>).then((rate) => process.send!({ rate }));
  });
  process.send!({ rate: 0 });
}

export const peerConfig = (): Record<string, unknown> =>
  JSON.parse(process.env['PEER_CONFIG']!) as Record<string, unknown>;

export function peerConnectionString(): string {
  const { host, port, user, database } = peerConfig() as Record<string, string>;
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host!)}`;
}
