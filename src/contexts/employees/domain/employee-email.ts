import { z } from 'zod';
import { withAsciiHost } from '../../../platform/web-addresses/mail-address.ts';
import { emailField } from '../../identity/domain/password-rule.ts';

/**
 * The address of an employee. Its host may be given in any script, and becomes ASCII: by hand, in a file, over SCIM and from a
 * directory one person has one address. Nobody signs in by it.
 */
export const employeeEmailField = z.string().trim().overwrite(withAsciiHost).pipe(emailField);
