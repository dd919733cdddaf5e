import type { Command } from '../src/cli/command.ts';
import { GLOBAL_OPTIONS } from '../src/cli/command-line.ts';
import { COMMANDS, GROUPS } from '../src/cli/commands.ts';
import type { Options } from '../src/cli/options.ts';

/** The page of operator commands, from the definitions that parse them. */
export function commandsPage(): string {
  const groups = Object.entries(GROUPS).map(([group, about]) => ({
    title: about,
    commands: COMMANDS.filter(({ name }) => name.startsWith(`${group} `)),
  }));
  const system = { title: 'System', commands: COMMANDS.filter(({ name }) => !name.includes(' ')) };
  return `# Commands

Operators run these commands in the folder of the gateway, with its settings: \`npm run till -- <command>\`. \`--help\` after a command prints
its part of this page. The exit code is 0 if it is done, 1 if it was refused or failed, and 2 for wrong usage or configuration. \`doctor\`
exits with 3 if something does not work.

With every command:

${optionList(GLOBAL_OPTIONS)}

${[...groups, system].map(({ title, commands }) => `## ${title}\n\n${commands.map(commandText).join('\n\n')}`).join('\n\n')}

This page is generated from \`src/cli/\`.
`;
}

function commandText({ name, summary, positionals, options, examples }: Command): string {
  const words = Object.keys(positionals).map((word) => ` <${word}>`);
  const positional = Object.entries(positionals).map(([word, { doc }]) => `- \`<${word}>\`: ${plain(doc)}`);
  const list = [...positional, optionList(options)].filter((part) => part !== '').join('\n');
  const example = examples.map((text) => `\`${text}\``).join(', ');
  return [`### \`${name}${words.join('')}\``, plain(summary), list, `Such as ${example}.`]
    .filter((part) => part !== '')
    .join('\n\n');
}

function optionList(options: Options): string {
  return Object.entries(options)
    .map(([name, { placeholder, doc, isRequired, isRepeatable }]) => {
      const spelled = placeholder === undefined ? `--${name}` : `--${name} <${placeholder}>`;
      return `- \`${spelled}\`: ${plain(doc)}${isRequired ? ' Required.' : ''}${isRepeatable ? ' Repeatable.' : ''}`;
    })
    .join('\n');
}

/** The words of the terminal, with what Markdown would read as a tag as code. */
function plain(text: string): string {
  return text.replace(/`[^`]*`|<[^>]*>/g, (part) => (part.startsWith('<') ? `\`${part}\`` : part));
}
