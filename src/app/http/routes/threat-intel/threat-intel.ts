import { z } from 'zod';
import { changeServiceKey } from '../../../../../commands/threat-intel/change-service-key.ts';
import { switchServices } from '../../../../../commands/threat-intel/switch-services.ts';
import { getThreatIntelSettings } from '../../../../../queries/threat-intel/get-threat-intel-settings.ts';
import { scanServices } from '../../../../contexts/threat-intel/domain/services.ts';
import { ProviderFailed } from '../../../../contexts/threat-intel/provider.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Logger } from 'pino';
import type { Vault } from '../../../../platform/vault/vault.ts';
import type { DomainScans } from '../../../../contexts/threat-intel/domain-scans.ts';

export interface ThreatIntelRouteDependencies {
  readonly log: Logger;
  readonly vault: Vault;
  readonly domainScans: DomainScans;
}

const route = routeWith<ThreatIntelRouteDependencies>();

const base = '/api/v1/admin/threat-intel';
const service = z.enum(scanServices);
const settingsView = z
  .object({
    scannerEnabled: z.boolean(),
    scannerConfigured: z.boolean(),
    reputationEnabled: z.boolean(),
    reputationConfigured: z.boolean(),
  })
  .meta({ title: 'ThreatIntelSettings' });

/** Sent in a header, so only visible ASCII characters. */
const apiKey = z
  .string()
  .max(512)
  .transform((text) => text.trim())
  .pipe(z.string().regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters'));

/** A domain that is reserved for examples (RFC 2606) and known to every service. */
const PROBED = 'example.com';

export const threatIntelRoutes: RouteGroup<ThreatIntelRouteDependencies> = {
  area: 'threat-intel',
  routes: [
    route({
      method: 'GET',
      path: `${base}/settings`,
      access: admin('threat-intel:read'),
      summary: 'Get the threat-intelligence settings',
      description: 'Which services are enabled, and which have a stored key.',
      response: settingsView,
      tagged: (shown: object) => shown,
      handle: ({ ask }) => ask(getThreatIntelSettings, undefined),
    }),
    route({
      method: 'PUT',
      path: `${base}/settings`,
      access: admin('threat-intel:write'),
      summary: 'Enable or disable threat-intelligence services',
      operation: 'changeThreatIntelSettings',
      description: 'Fields that are left out keep their values.',
      body: z.object({ scannerEnabled: z.boolean().optional(), reputationEnabled: z.boolean().optional() }),
      response: settingsView,
      tagged: (shown: object) => shown,
      handle: async ({ run, body: { scannerEnabled, reputationEnabled } }) =>
        (await run(switchServices, { enabled: { scanner: scannerEnabled, reputation: reputationEnabled } })).result,
    }),
    route({
      method: 'PUT',
      path: `${base}/api-key`,
      access: adminReauthenticated('threat-intel:write'),
      summary: 'Set the API key of a service',
      description: 'The key is never returned. An empty key removes it.',
      body: z.object({ service, apiKey }),
      response: z.object({ service, configured: z.boolean() }),
      handle: async ({ run, body }) => {
        await run(changeServiceKey, { service: body.service, apiKey: body.apiKey || null });
        return { service: body.service, configured: body.apiKey !== '' };
      },
    }),
    route({
      method: 'POST',
      path: `${base}/test`,
      access: admin('threat-intel:write'),
      summary: 'Test a service with the stored key',
      body: z.object({ service }),
      response: z.object({ success: z.boolean(), service, message: z.string(), latencyMs: z.int() }),
      handle: async ({ body, services, principal: { tenantId } }) => {
        const begun = performance.now();
        const message = await services.domainScans.probe(tenantId, body.service, PROBED).then(
          () => undefined,
          (error: unknown) => {
            if (error instanceof ProviderFailed) return error.message;
            throw error;
          },
        );
        const latencyMs = Math.round(performance.now() - begun);
        return {
          success: message === undefined,
          service: body.service,
          message: message ?? 'the service answered',
          latencyMs,
        };
      },
    }),
  ],
};
