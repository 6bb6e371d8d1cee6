/** Table and name of the read model of `projections/tenants/claimed-numbers.ts`. */
export const CLAIMED_NUMBERS = 'claimed_numbers';
