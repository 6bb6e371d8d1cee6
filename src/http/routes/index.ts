import type { RouteGroup } from '../route.ts';
import { alertRoutes } from './alerts.ts';

/** Every route that the service has, in the order of the interface. */
export const routeGroups: readonly RouteGroup[] = [alertRoutes];
