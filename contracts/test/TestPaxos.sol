// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/**
 * A token for tests in the shape of Paxos's tokens (PYUSD, USDG). Its EIP-3009 takes the signatures of keys only, and a
 * used authorization does not revert: the call succeeds and moves nothing. It has `DOMAIN_SEPARATOR()` and no EIP-5267,
 * freezes accounts, and reverts with custom errors.
 *
 * The functions of EIP-3009 stand in each of the test tokens, as in the contracts that they imitate: a file shows a token whole.
 */
contract TestPaxos {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationAlreadyUsed(address indexed authorizer, bytes32 indexed nonce);

    error AddressFrozen();
    error AlreadyInitialized();
    error AuthorizationExpired();
    error AuthorizationInvalid();
    error CallerMustBePayee();
    error ContractPaused();
    error InsufficientAllowance();
    error InsufficientFunds();
    error InvalidSignature();
    error OnlyAdmin();

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    uint8 public constant decimals = 6;
    string public name;
    bytes32 public DOMAIN_SEPARATOR;
    bool public paused;
    address private admin;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => bool) public isFrozen;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    modifier onlyAdmin() {
        require(msg.sender == admin, OnlyAdmin());
        _;
    }

    modifier whenNotPaused() {
        require(!paused, ContractPaused());
        _;
    }

    function initialize(string calldata name_, address admin_) external {
        require(admin == address(0), AlreadyInitialized());
        name = name_;
        admin = admin_;
        DOMAIN_SEPARATOR = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name_)),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
    }

    function transfer(address to, uint256 value) external whenNotPaused returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external whenNotPaused returns (bool) {
        require(!isFrozen[msg.sender], AddressFrozen());
        require(value <= allowance[from][msg.sender], InsufficientAllowance());
        allowance[from][msg.sender] -= value;
        _transfer(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        require(!isFrozen[spender] && !isFrozen[msg.sender], AddressFrozen());
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes memory signature = abi.encodePacked(r, s, v);
        _useAuthorization(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature
        );
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(to == msg.sender, CallerMustBePayee());
        bytes memory signature = abi.encodePacked(r, s, v);
        _useAuthorization(
            RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce, signature
        );
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
        external
        whenNotPaused
    {
        require(!isFrozen[authorizer], AddressFrozen());
        if (authorizationState[authorizer][nonce]) {
            emit AuthorizationAlreadyUsed(authorizer, nonce);
            return;
        }
        bytes32 structHash = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        _requireSigned(authorizer, structHash, abi.encodePacked(r, s, v));
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function mint(address to, uint256 value) external onlyAdmin {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function freeze(address account) external onlyAdmin {
        isFrozen[account] = true;
    }

    function unfreeze(address account) external onlyAdmin {
        isFrozen[account] = false;
    }

    function pause() external onlyAdmin {
        paused = true;
    }

    function unpause() external onlyAdmin {
        paused = false;
    }

    function _useAuthorization(
        bytes32 typeHash,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private whenNotPaused {
        require(block.timestamp > validAfter, AuthorizationInvalid());
        require(block.timestamp < validBefore, AuthorizationExpired());
        // A front-runner cannot make a batch revert by using one of its authorizations.
        if (authorizationState[from][nonce]) {
            emit AuthorizationAlreadyUsed(from, nonce);
            return;
        }
        bytes32 structHash = keccak256(abi.encode(typeHash, from, to, value, validAfter, validBefore, nonce));
        _requireSigned(from, structHash, signature);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }

    function _requireSigned(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR, structHash));
        (address recovered,,) = ECDSA.tryRecover(digest, signature);
        require(recovered == signer && signer != address(0), InvalidSignature());
    }

    function _transfer(address from, address to, uint256 value) private {
        require(!isFrozen[to] && !isFrozen[from], AddressFrozen());
        require(value <= balanceOf[from], InsufficientFunds());
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
