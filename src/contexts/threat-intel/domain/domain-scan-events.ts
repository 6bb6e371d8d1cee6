import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { scanServices } from './services.ts';

const service = z.enum(scanServices);
const scan = { scanId: uuid(), domain: z.string() };

/** What the services know about one domain, as one tenant asked them: their answers may differ by account (choice OP-130). */
export const domainScanEvents = defineEvents('domainScan', {
  /** Nobody else asks about this domain until the scan has ended, or until its time is up. */
  DomainScanBegun: {
    version: 1,
    schema: z.object({ ...scan, services: z.array(service), until: z.iso.datetime() }),
    audit: false,
  },
  DomainScanEnded: {
    version: 1,
    schema: z.object({
      ...scan,
      endedAt: z.iso.datetime(),
      /** What was learnt; null of a service that was not asked, or did not answer properly. */
      scanner: z.object({ isMalicious: z.boolean() }).nullable(),
      reputation: z.object({ maliciousCount: z.int() }).nullable(),
      /** By fixed words: nothing of what came back. */
      failures: z.array(z.object({ service, reason: z.string() })),
      /** Services whose budget was used up, and when it is free again. */
      postponed: z.array(z.object({ service, until: z.iso.datetime() })),
      /** By everything that is known of the domain now (choice OP-127). */
      isMalicious: z.boolean(),
      /** The browser that asked; null where the scan had been put off. */
      deviceId: uuid().nullable(),
      userId: uuid().nullable(),
    }),
    audit: 'domain.scanned',
  },
});
export type DomainScanEvent = EventOf<typeof domainScanEvents>;
