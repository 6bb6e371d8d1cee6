import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { scanServices } from './services.ts';

const service = z.enum(scanServices);
const scan = { scanId: uuid(), domain: z.string() };

/** Results of the services about one domain, per tenant: they may differ by account (choice OP-130). */
export const domainScanEvents = defineEvents('domainScan', {
  /** No other scan of this domain starts until this one ends or `until` has passed. */
  DomainScanBegun: {
    version: 1,
    schema: z.object({ ...scan, services: z.array(service), until: z.iso.datetime() }),
    audit: false,
  },
  DomainScanEnded: {
    version: 2,
    schema: z.object({
      ...scan,
      endedAt: z.iso.datetime(),
      /** The services that know nothing about the domain. Version 1 recorded their silence as a harmless result. */
      silent: z.array(service),
      /** The result; null if the service was not queried, failed, or knows nothing. */
      scanner: z.object({ isMalicious: z.boolean() }).nullable(),
      reputation: z.object({ maliciousCount: z.int() }).nullable(),
      /** Fixed texts without content of the response. */
      failures: z.array(z.object({ service, reason: z.string() })),
      /** Services whose budget was exhausted, and when it is available again. */
      postponed: z.array(z.object({ service, until: z.iso.datetime() })),
      /** The verdict from everything now known about the domain (choice OP-127). */
      isMalicious: z.boolean(),
      /** The requesting browser; null if the scan had been postponed. */
      deviceId: uuid().nullable(),
      userId: uuid().nullable(),
    }),
    upcasters: { 1: (data: object) => ({ silent: [], ...data }) },
    audit: 'domain.scanned',
  },
});
export type DomainScanEvent = EventOf<typeof domainScanEvents>;
