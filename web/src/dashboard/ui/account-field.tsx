import { useState } from 'react';
import { useWords } from '../words.ts';
import { Field, Notice } from './parts.tsx';

/** The account as CAIP-10. An address without a network gets the asset's network. */
export function accountIn(form: FormData, asset: string): string {
  const text = String(form.get('account')).trim();
  return text.includes(':') ? text : `${asset.split('/')[0]}:${text}`;
}

/** A field for an address. The address is repeated in groups of four for comparison, with a warning if it has no checksum. */
export function AccountField({ label }: { readonly label: string }) {
  const words = useWords();
  const [text, setText] = useState('');
  const digits = /(?:^|:)0x([0-9a-fA-F]{40})$/.exec(text.trim())?.[1];
  const hasChecksum = digits !== undefined && digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  const hasLetters = digits !== undefined && /[a-fA-F]/.test(digits);
  return (
    <>
      <Field label={label}>
        {(id) => (
          <input
            id={id}
            name="account"
            required
            maxLength={128}
            dir="ltr"
            autoComplete="off"
            spellCheck={false}
            placeholder="0x…"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      {digits !== undefined && (
        <p className="grouped" dir="ltr">
          <code>0x</code>
          {(digits.match(/.{4}/g) ?? []).map((group, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the groups of one address, in their order
            <code key={index}>{group}</code>
          ))}
        </p>
      )}
      {hasLetters && !hasChecksum && <Notice kind="warm">{words.noChecksum}</Notice>}
    </>
  );
}
