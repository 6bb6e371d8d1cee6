import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';

/**
 * The copy of gRPC that the client works with. Channels and credentials are recognised by their classes, so they must come from that
 * copy and no other.
 */
export const grpc = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))(
  '@grpc/grpc-js',
) as typeof Grpc;

export type { Grpc };

/** An error as a failed call has it, for what fails before there is a call. */
export const unavailableError = (message: string): Error =>
  Object.assign(new Error(message), { code: grpc.status.UNAVAILABLE });
