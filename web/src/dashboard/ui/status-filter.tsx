import { useWords } from '../words.ts';

interface StatusFilterProps {
  readonly value: string | undefined;
  readonly choices: readonly { readonly value: string; readonly text: string }[];
  readonly onChange: (value: string) => void;
}

export function StatusFilter({ value = '', choices, onChange }: StatusFilterProps) {
  const words = useWords();
  return (
    <select aria-label={words.status} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{words.anyStatus}</option>
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.text}
        </option>
      ))}
    </select>
  );
}
