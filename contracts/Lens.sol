// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Answers many small questions about a chain at once. It is never deployed: an `eth_call` that creates it runs the
 * constructor, which returns the answers in place of the contract's code.
 *
 * A question is an address, one byte with the length of the calldata, and the calldata. Calldata has at least four
 * bytes, so smaller lengths have another meaning: 0 asks for the size of the address's code, 1 for its balance of
 * native coin.
 *
 * An answer is one byte and one word. The byte is 1 when the word is the answer, 2 when the address returned nothing,
 * and 0 when it reverted, ran out of gas or returned data of another length: then the question needs a call of its own.
 * The byte also keeps the answers from beginning with 0xef, which is forbidden for code.
 */
contract Lens {
    constructor(bytes memory questions) {
        assembly ("memory-safe") {
            // No address may use up the gas of the questions after it.
            let allowance := 300000
            let question := add(questions, 32)
            let end := add(question, mload(questions))
            let answers := mload(64)
            let answer := answers
            for {} lt(question, end) {} {
                let head := mload(question)
                let target := shr(96, head)
                let size := byte(20, head)
                question := add(question, 21)
                let kind := 1
                switch size
                case 0 { mstore(0, extcodesize(target)) }
                case 1 { mstore(0, balance(target)) }
                default {
                    // Calls may try to change state: every change is discarded with the contract.
                    kind := call(allowance, target, 0, question, size, 0, 32)
                    switch returndatasize()
                    case 32 {}
                    case 0 { kind := shl(1, kind) }
                    default { kind := 0 }
                    question := add(question, size)
                }
                mstore8(answer, kind)
                mstore(add(answer, 1), mload(0))
                answer := add(answer, 33)
            }
            return(answers, sub(answer, answers))
        }
    }
}
