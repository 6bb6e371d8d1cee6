import { alertEvents } from '../../src/domain/alerts/events.ts';
import { at, defineReadModel, id, text, timestamp, type Row } from '../../src/kernel/read-model.ts';

const columns = { alert_id: id, body: text, raised_at: timestamp };
export type AlertTextRow = Row<{ columns: typeof columns }>;

/** The words of an alert. They never change, so what is done about alerts never touches the index over them. Nothing here is a person's. */
export const alertTexts = defineReadModel({
  name: 'alert_texts',
  version: 1,
  lane: 'main',
  columns,
  key: ['alert_id'],
  indexes: ['using gin (tenant_id, body gin_trgm_ops)', `using gin (tenant_id, to_tsvector('english', body))`],
  families: [alertEvents],
  on: {
    AlertRaised: (event) => {
      const { alertId, alertType, title, description, domain } = event.data;
      const body = [title, description, alertType, domain ?? ''].join('\n').toLowerCase();
      return { key: { alert_id: alertId }, fold: () => ({ alert_id: alertId, body, raised_at: at(event) }) };
    },
  },
});
