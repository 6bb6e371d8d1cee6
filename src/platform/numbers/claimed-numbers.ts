/** The read model of `projections/tenants/claimed-numbers.ts`: its table, and the name by which a caller waits for it. */
export const CLAIMED_NUMBERS = 'claimed_numbers';
