import type { AnyReadModel } from '../src/kernel/read-model.ts';
import { alerts } from './alerts/alerts.ts';

/** Every read model that the projector maintains. */
export const readModels: readonly AnyReadModel[] = [alerts];
