import { byHost } from '../../src/contexts/discovery/domain/sightings.ts';
import { anonymousTelemetryEvents } from '../../src/contexts/telemetry/domain/anonymous-events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import type { Observation } from '../../src/contexts/telemetry/domain/observation.ts';
import { defineReadModel, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { name: text, domain: text };
export type EndpointTechnologyRow = Row<{ columns: typeof columns }>;

/**
 * The hosts that run a technology. Rows are written once and never updated, so that counting stays cheap while visits
 * continue.
 */
export const endpointTechnologies = defineReadModel({
  name: 'endpoint_technologies',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['name', 'domain'],
  families: [telemetryEvents, anonymousTelemetryEvents],
  on: {
    TelemetryRecorded: ({ data: { observations } }) => technologiesIn(observations),
    AnonymousTelemetryRecorded: ({ data: { observations } }) => technologiesIn(observations),
  },
});

const technologiesIn = (observations: readonly Observation[]) =>
  byHost(observations).flatMap(({ domain, observations: there }) => {
    const names = new Set(
      there.flatMap((one) => (one.kind === 'navigation' ? one.technologies.map(({ name }) => name) : [])),
    );
    return [...names].map((name) => ({
      key: { name, domain },
      fold: (row: EndpointTechnologyRow | undefined) => row ?? { name, domain },
    }));
  });
