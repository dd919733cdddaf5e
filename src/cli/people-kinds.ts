import { type Kind, Problem } from './kinds.ts';

export const emailAddress: Kind<string> = {
  placeholder: 'e-mail',
  parse: (raw) =>
    /^[^\s@\p{Cc}\p{Cs}]{1,64}@[^\s@\p{Cc}\p{Cs}]{1,189}$/u.test(raw) ? raw : new Problem('must be an e-mail address'),
};
