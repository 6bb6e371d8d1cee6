import { collectionRoutes, type CollectionRoutesDependencies } from '../resources/collection-routes.ts';
import { resources } from '../../../contexts/resources.ts';
import { singletonRoutes, type SingletonRoutesDependencies } from '../resources/singleton-routes.ts';
import type { RouteGroup } from '../route.ts';

/** The routes of every declared resource. */
export const resourceRoutes: readonly RouteGroup<CollectionRoutesDependencies & SingletonRoutesDependencies>[] =
  resources.map((resource) => ({
    area: resource.declared.area,
    routes: resource.kind === 'collection' ? collectionRoutes(resource) : singletonRoutes(resource),
  }));
