import { createSocket, type Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { guardedLookup, isAllowed, NOT_PUBLIC, OutboundRefused, type AddressGuard } from './address-guard.ts';

/** Opens a UDP socket that is connected to an address that a user entered: it sends to and receives from no other. */
export type GuardedDatagrams = (host: string, port: number) => Promise<Socket>;

/** The guard of `guardedFetch` for UDP: the name is resolved once, and all its addresses must be allowed. */
export const guardedDatagrams =
  (guard: AddressGuard): GuardedDatagrams =>
  async (host, port) => {
    const { address, family } = await resolved(host, guard);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        socket.close();
        reject(error);
      };
      socket.once('error', fail);
      socket.connect(port, address, () => {
        socket.removeListener('error', fail);
        resolve(socket);
      });
    });
  };

async function resolved(host: string, guard: AddressGuard): Promise<{ address: string; family: number }> {
  const family = isIP(host);
  if (family !== 0) {
    // A literal address is never looked up, so it is checked here.
    if (!isAllowed(host, guard)) throw new OutboundRefused(NOT_PUBLIC);
    return { address: host, family };
  }
  const lookup = guardedLookup(guard);
  return promisify<{ address: string; family: number }>((done) =>
    lookup(host, { all: false }, (error, address, found) =>
      done(error, { address: String(address), family: found ?? isIP(String(address)) }),
    ),
  )();
}
