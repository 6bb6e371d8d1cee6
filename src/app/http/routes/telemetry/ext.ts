import { z } from 'zod';
import { MAX_BATCH_SIZE, rejectionCodes } from '../../../../contexts/telemetry/domain/admission.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { deviceAccess, reportingDeviceAccess } from '../../access.ts';
import { isNotModified } from '../../../../contexts/policies/extension-responses.ts';
import { reportedObservation } from '../../../../contexts/telemetry/domain/reported-observation.ts';
import { heartbeatRoute, type HeartbeatDependencies } from './heartbeat.ts';
import { policyBundleView } from './policy-bundle.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { confirmWipe } from './wipe-confirmation.ts';
import { ingestBatch, type TelemetryIntakeDependencies } from './telemetry-intake.ts';
import type { BundleSigner } from '../../../../contexts/policies/bundle-signer.ts';

export interface ExtRouteDependencies extends TelemetryIntakeDependencies, HeartbeatDependencies {
  readonly bundleSigner: BundleSigner;
}

const route = routeWith<ExtRouteDependencies>();

/** The routes that browsers call with their device certificates. */
const batch = { deviceSequence: z.int().min(0).nullish() };

export const extRoutes: RouteGroup<ExtRouteDependencies> = {
  area: 'ext',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/ext/events',
      access: reportingDeviceAccess,
      judgesText: true,
      summary: 'Report telemetry',
      operation: 'reportTelemetry',
      description:
        'Up to 500 events. Each is accepted or rejected separately, and counted once. 429 if the device reports too much.',
      body: z.object({ ...batch, events: z.array(z.unknown()).min(1).max(MAX_BATCH_SIZE) }),
      // Items are judged one by one, so that a wrong one does not refuse its batch.
      bodyView: z.object({ ...batch, events: z.array(reportedObservation).min(1).max(MAX_BATCH_SIZE) }),
      status: 202,
      response: z.object({
        accepted: z.int(),
        duplicates: z.int(),
        rejected: z.array(
          z.object({
            index: z.int(),
            eventId: uuid().nullable(),
            error: z.string(),
            code: z.enum(rejectionCodes),
            field: z.string().nullable(),
          }),
        ),
      }),
      handle: (call) => (call.principal.onlyConfirmsWipe ? confirmWipe(call, call.body) : ingestBatch(call, call.body)),
    }),
    heartbeatRoute,
    route({
      method: 'GET',
      path: '/api/v1/ext/policy-keys',
      access: deviceAccess,
      summary: 'List the keys that verify the policy signature',
      description: 'A JWK set. `X-Policy-Signature` of the policies is an Ed25519 signature of the body.',
      response: z.object({
        keys: z.array(
          z.object({
            kty: z.string(),
            crv: z.string(),
            alg: z.string(),
            use: z.string(),
            kid: z.string(),
            x: z.string(),
          }),
        ),
      }),
      handle: async ({ services }) => ({ keys: [...services.bundleSigner.publicKeys] }),
    }),
    route({
      method: 'GET',
      path: '/api/v1/ext/policies',
      access: deviceAccess,
      summary: 'Get the policies for the extension',
      operation: 'getPolicyBundle',
      sends: ['ETag', 'X-Policy-Signature', 'X-Policy-Key'],
      description: 'With `If-None-Match`, returns 304 if they have not changed.',
      response: { media: 'application/json', schema: policyBundleView },
      handle: async ({ principal: { tenantId, userId }, services, request, reply }) => {
        const { etag, body, signature } = await services.extensionResponses.ofPerson(tenantId, userId);
        reply.header('etag', etag).header('cache-control', 'private, no-cache');
        reply.header('x-policy-signature', signature).header('x-policy-key', services.bundleSigner.publicKey.kid);
        if (isNotModified(request.headers['if-none-match'], etag)) {
          reply.status(304);
          return undefined;
        }
        reply.type('application/json; charset=utf-8');
        return body;
      },
    }),
  ],
};
