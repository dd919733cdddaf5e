import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';

const PHP: DebianProgram = { names: ['php'], debianPackage: 'php-cli' };
const PYTHON: DebianProgram = { names: ['python3'], debianPackage: 'python3', override: '/usr/bin/python3' };

export const missingPhp = () => missingProgram(PHP);
export const missingPython = () => missingProgram(PYTHON);
export const phpPath = () => programPath(PHP) ?? '';
export const pythonPath = () => programPath(PYTHON) ?? '';
