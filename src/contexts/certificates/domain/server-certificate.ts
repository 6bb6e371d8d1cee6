import { z } from 'zod';
import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

/** The TLS listener's certificate, recorded by the tenant that uploaded it. The key is in that tenant's vault. */
export const serverCertificateEvents = defineEvents('serverCertificate', {
  ServerCertificateInstalled: {
    version: 1,
    schema: z.object({
      /** PEM: the server's own certificate first, followed by its chain. */
      certificatePem: z.string(),
      privateKeyRef: z.string(),
      subject: z.string(),
      issuer: z.string(),
      serialNumber: z.string(),
      fingerprintSha256: z.string(),
      notBefore: z.iso.datetime(),
      expiresAt: z.iso.datetime(),
    }),
    audit: 'server_certificate.installed',
  },
});
export type ServerCertificateInstalled = EventOf<typeof serverCertificateEvents>['data'];

export interface ServerCertificateState {
  readonly privateKeyRef: string | undefined;
}

export const serverCertificateRecord = defineAggregate<ServerCertificateState, typeof serverCertificateEvents>(
  serverCertificateEvents,
  { privateKeyRef: undefined },
  (_state, { data: { privateKeyRef } }) => ({ privateKeyRef }),
);

/** Each tenant has one such stream. */
export const serverCertificateStream = (tenantId: TenantId): string =>
  streamName('serverCertificate', tenantId, tenantId);

/** The key's location in the vault. */
export const serverKeyLocation = (tenantId: TenantId) => ({ owner: `tenant/${tenantId}`, field: 'serverPrivateKey' });
