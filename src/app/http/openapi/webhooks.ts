import { webhookBodies } from '../../../contexts/notifications/webhook-body.ts';
import { jsonSchema } from './json-schema.ts';

/** The schema of each body: `AlertCreatedWebhook`. */
const componentOf: Readonly<Record<keyof typeof webhookBodies, string>> = {
  'alert.created': 'AlertCreatedWebhook',
  'alert.updated': 'AlertUpdatedWebhook',
  test: 'TestWebhook',
};
const SUMMARIES: Readonly<Record<keyof typeof webhookBodies, string>> = {
  'alert.created': 'Tell of a new alert',
  'alert.updated': 'Tell of a decision about an alert',
  test: 'Test the receiver',
};
type WebhookType = keyof typeof webhookBodies;
const types = Object.keys(webhookBodies) as WebhookType[];

const header = (name: string, description: string, isRequired = true) => ({
  name,
  in: 'header',
  required: isRequired,
  description,
  schema: { type: 'string' },
});

const PARAMETERS = [
  header('webhook-id', 'The same in all attempts and replays: recognizes a repetition.'),
  header('webhook-timestamp', 'Seconds since 1970 of this attempt.'),
  header(
    'webhook-signature',
    '`v1,` and base64 of HMAC-SHA256 over id, timestamp and raw body, joined by dots; one for each live secret, separated by spaces.',
  ),
  header('castellan-replay', 'The id of the replay that sends history again.', false),
];

const RESPONSES = {
  '2XX': { description: 'The receiver has the message. The body is not read.' },
  410: { description: 'The receiver is gone: the webhook is switched off.' },
  default: { description: 'The message is sent again, for three days. `Retry-After` of 429 and 503 counts.' },
};

/** What the service sends to the webhook of a tenant (Standard Webhooks 1.0.0). No order is promised. */
export const webhookOperations = Object.fromEntries(
  types.map((type) => [
    type,
    {
      post: {
        operationId: `on${componentOf[type].replace(/Webhook$/, '')}`,
        tags: ['alert-notifications'],
        summary: SUMMARIES[type],
        security: [],
        parameters: PARAMETERS,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${componentOf[type]}` } } },
        },
        responses: RESPONSES,
      },
    },
  ]),
);

export const webhookSchemas = (): Record<string, object> =>
  Object.fromEntries(types.map((type) => [componentOf[type], jsonSchema(webhookBodies[type], 'output')]));
