import type { Row } from '../measure.ts';
import { measureForwarding } from './forwarding.ts';
import { measureWebhooks } from './webhooks.ts';

/** What leaves the installation. */
export const measure = async (): Promise<Row[]> => [...(await measureForwarding()), ...(await measureWebhooks())];
