/**
 * The result of parsing: a value, or a problem. It is not an exception, so that one answer can name the problems of all fields at
 * once. A problem is the rest of a sentence that starts with the field's name. Of the input it repeats only a namespace of at
 * most eight characters, so no caller can put text of their own into an answer or a log.
 */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export const accept = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const refuse = (problem: string): Parsed<never> => ({ ok: false, problem });
