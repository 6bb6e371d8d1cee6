import { connect, isIP, type Socket } from 'node:net';
import { guardedLookup, isAllowed, NOT_PUBLIC, OutboundRefused, type AddressGuard } from './address-guard.ts';
import { whenAborted } from '../kernel/when-aborted.ts';

/** Opens a TCP connection to an address that a user entered. Aborting the signal gives up the attempt. */
export type GuardedConnect = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * The guard of `guardedFetch` for protocols other than HTTP: the name is resolved once, all its addresses must be
 * allowed, and the connection goes to one of them.
 */
export const guardedConnect =
  (guard: AddressGuard): GuardedConnect =>
  async (host, port, signal) => {
    signal.throwIfAborted();
    // A literal address is never looked up, so it is checked here.
    if (isIP(host) !== 0 && !isAllowed(host, guard)) throw new OutboundRefused(NOT_PUBLIC);
    const socket = connect({ host, port, lookup: guardedLookup(guard), noDelay: true });
    return new Promise((resolve, reject) => {
      const settle = () => {
        forget();
        socket.removeListener('error', fail);
      };
      const fail = (error: Error) => {
        settle();
        socket.destroy();
        reject(error);
      };
      const giveUp = () => fail(signal.reason as Error);
      const forget = whenAborted(signal, giveUp);
      socket.once('error', fail);
      socket.once('connect', () => {
        settle();
        resolve(socket);
      });
    });
  };
