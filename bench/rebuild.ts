import pg from 'pg';
import { alerts } from '../projections/alerts/alerts.ts';
import { alertEvents } from '../src/contexts/alerts/domain/events.ts';
import { dayOf, day, defineReadModel, integer, text, type AnyReadModel } from '../src/platform/kernel/read-model.ts';
import { rebuildInto } from '../src/platform/projector/rebuild.ts';
import { openAlertHistory } from './alert-history.ts';
import { alternate, compare, perSecond, type Row } from './measure.ts';
import { startPeer } from './peers/peer.ts';

const EVENTS = 200_000;
/** Alerts per day by severity: the data of a chart. */
const counter = defineReadModel({
  name: 'bench_alert_daily',
  version: 1,
  lane: 'main',
  columns: { on_day: day, severity: text, raised: integer },
  key: ['on_day', 'severity'],
  families: [alertEvents],
  on: {
    AlertRaised: (event) => ({
      key: { on_day: dayOf(event.recordedAt), severity: event.data.severity },
      fold: (row) => ({
        on_day: dayOf(event.recordedAt),
        severity: event.data.severity,
        raised: (row?.raised ?? 0) + 1,
      }),
    }),
  },
});

export async function measure(): Promise<Row[]> {
  const { config, parts, stop } = await openAlertHistory(EVENTS);
  const rebuilding = (model: AnyReadModel) => () => perSecond(EVENTS, () => rebuildInto(parts, model, 'bench', {}));
  const reader = new pg.Pool({ ...config, max: 1 });
  const plainRead = () =>
    perSecond(EVENTS, async () => {
      for (let position = '0'; ;) {
        const { rows } = await reader.query<{ position: string }>({
          name: 'page',
          text: 'select * from events where position > $1 order by position limit 5000',
          values: [position],
        });
        if (rows.length === 0) return;
        position = rows.at(-1)!.position;
      }
    });
  const emmett = await startPeer('emmett-projection.ts', config);
  const peer = () => emmett.ask({ count: 4_000, batch: 500 });
  const [ourAlerts, ourCounter, read, theirs] = await alternate(3, [
    rebuilding(alerts),
    rebuilding(counter),
    plainRead,
    peer,
  ]);
  const rows = [
    compare('rebuild of the alerts read model, against Emmett', 'events/s', '>= 20', ourAlerts!, theirs!, 'Emmett'),
    compare(
      'rebuild of the alerts read model, against the plain paged read',
      'events/s',
      '>= 0.3',
      ourAlerts!,
      read!,
      'read',
    ),
    compare('rebuild of a counter read model, against Emmett', 'events/s', '>= 20', ourCounter!, theirs!, 'Emmett'),
    compare(
      'rebuild of a counter read model, against the plain paged read',
      'events/s',
      '>= 0.3',
      ourCounter!,
      read!,
      'read',
    ),
  ];
  await emmett.stop();
  await reader.end();
  await stop();
  return rows;
}
