import { routeGroups } from '../../src/app/http/routes/index.ts';
import type { AnyRoute } from '../../src/app/http/route.ts';

/** Every declared route, for tests of rules that apply to all routes. */
export const everyRoute: readonly AnyRoute<never>[] = routeGroups.flatMap(({ routes }) => routes);

export const named = (route: AnyRoute<never>): string => `${route.method} ${route.path}`;

/** The route's path with these ids in place of its parameters. */
export const pathWith = (route: AnyRoute<never>, id: string): string => route.path.replaceAll(/\{(\w+)\}/g, id);
