import { useWords } from '../words.ts';
import { Field } from './parts.tsx';

export function MerchantFields({ name = '', email = '' }: { readonly name?: string; readonly email?: string }) {
  const words = useWords();
  return (
    <>
      <Field label={words.name}>
        {(id) => <input id={id} name="name" required maxLength={256} defaultValue={name} />}
      </Field>
      <Field label={words.contactEmail}>
        {(id) => <input id={id} name="email" type="email" required maxLength={254} defaultValue={email} />}
      </Field>
    </>
  );
}
