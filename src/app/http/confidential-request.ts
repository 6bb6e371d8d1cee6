import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';
import { FailureError, forbidden } from '../../platform/kernel/failure.ts';

export interface ConfidentialRequestDependencies {
  readonly config: { readonly devMode: boolean };
  trustsProxy(address: string | undefined): boolean;
}

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Throws 403 unless nobody between client and service can read the response, which contains a private key or an access
 * key (`docs/decisions/0120`): TLS up to here or up to a trusted proxy that says so, or the same computer.
 */
export function refuseWithoutTls(request: FastifyRequest, services: ConfidentialRequestDependencies): void {
  if (!isConfidential(request, services)) throw new FailureError(forbidden('tls_required'));
}

function isConfidential(request: FastifyRequest, { config, trustsProxy }: ConfidentialRequestDependencies): boolean {
  const { encrypted } = request.raw.socket as Partial<TLSSocket>;
  if (encrypted || config.devMode) return true;
  const peer = request.socket.remoteAddress;
  const protocols = trustsProxy(peer) ? request.headers['x-forwarded-proto'] : undefined;
  // Several values: one for each proxy. One hop in clear text is enough to be read.
  if (protocols !== undefined)
    return String(protocols)
      .split(',')
      .every((one) => one.trim().toLowerCase() === 'https');
  return peer !== undefined && LOOPBACK.test(peer);
}
