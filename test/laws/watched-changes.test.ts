import { expect, it } from 'vitest';
import { whenAccountControlChangesRaiseAlert } from '../../src/contexts/alerts/reactions/when-account-control-changes-raise-alert.ts';
import { families } from '../../src/contexts/families.ts';
import { NOT_ABOUT_CONTROL, NOT_WATCHED } from './watched-changes.ts';

/** Who controls the tenant, where its data goes, and who hears of an attack on it: every family that has no reason. */
const watchedFamilies = families.filter(({ category }) => !(category in NOT_ABOUT_CONTROL));
const types = watchedFamilies.flatMap(({ definitions }) => Object.keys(definitions));

/** OP-436. */
it('each change of control, of a way out or of a watch raises an alert, or says why it raises none', () => {
  const watched = Object.keys(whenAccountControlChangesRaiseAlert.on);
  expect(
    types.filter((type) => watched.includes(type) === type in NOT_WATCHED),
    'handle the event in account-control-alerts, or state in test/laws/watched-changes.ts why it raises no alert: under NOT_WATCHED the event, under NOT_ABOUT_CONTROL its whole family (the noun of a declared resource). An event that is handled is not listed',
  ).toEqual([]);
  expect(Object.keys(NOT_WATCHED).filter((type) => !types.includes(type))).toEqual([]);
});

it('each family is looked at, or says why its events change nothing of the kind', () => {
  const known = new Set<string>(families.map(({ category }) => category));
  expect(Object.keys(NOT_ABOUT_CONTROL).filter((category) => !known.has(category))).toEqual([]);
  const listened = new Set<string>(whenAccountControlChangesRaiseAlert.families.map(({ category }) => category));
  expect(Object.keys(NOT_ABOUT_CONTROL).filter((category) => listened.has(category))).toEqual([]);
});
