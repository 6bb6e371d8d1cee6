/** The years that JSON, events and the database have in common. With its offset, a time of year 1 or 9999 may lie outside. */
export const isStorable = (iso: string): boolean => /^\d{4}-/.test(iso) && !iso.startsWith('0000');
